import Glibc
package import KiiPushCore

/// The clients at the broker, read from the broker's log.
///
/// A client that vanishes without closing its connection counts as connected until its keep alive has run out.
final class BrokerPresence: Sendable {
    private struct State {
        var offset = 0
        var connections = BrokerConnections()
    }

    private let path: String
    private let state = Locked(State())
    private let observer = Locked<(@Sendable (BrokerConnections.Change) -> Void)?>(nil)

    init(log: String) { self.path = log }

    /// Call this before each start of the broker, while no broker runs.
    func restart(tlsPort: UInt16) {
        self.state.withLock { state in
            unlink(self.path)
            state.offset = 0
            state.connections.endAll(at: .now())
            state.connections.tlsPort = tlsPort
        }
    }

    func observe(_ observer: @escaping @Sendable (BrokerConnections.Change) -> Void) {
        self.observer.withLock { $0 = observer }
    }

    func look() {
        guard self.statuses() != nil, let observer = self.observer.withLock({ $0 }) else { return }
        for change in self.state.withLock({ $0.connections.takeChanges() }) { observer(change) }
    }

    func forget(_ usernames: [String]) {
        self.state.withLock { state in
            for name in usernames { state.connections.forget(name) }
        }
    }

    /// The status of each user name that has connected since the emulator's start, without revoked names; `nil` if the
    /// log cannot be read.
    func statuses() -> [String: BrokerConnections.Status]? {
        self.state.withLock { state -> [String: BrokerConnections.Status]? in
            guard let file = FileDescriptor(opening: self.path, O_RDONLY) else {
                // The log does not exist before a start of the broker.
                return errno == ENOENT ? state.connections.statuses : nil
            }
            var pending: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = pread(file.number, &chunk, chunk.count, state.offset + pending.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return nil }
                guard count > 0 else { break }
                pending += chunk[..<count]
                guard let end = pending.lastIndex(of: UInt8(ascii: "\n")) else { continue }
                for line in pending[...end].split(separator: UInt8(ascii: "\n")) {
                    state.connections.read(String(decoding: line, as: UTF8.self))
                }
                state.offset += end + 1
                pending.removeFirst(end + 1)
            }
            return state.connections.statuses
        }
    }
}

/// The connections that a mosquitto log describes.
///
/// - Source: mosquitto 2.0, `connection_messages` of mosquitto.conf(5). A line has the seconds since 1970 and a text
///   such as `New client connected from …` or `Client … disconnected`.
package struct BrokerConnections: Sendable {
    package struct Status: Sendable, Hashable {
        package var connections: Int
        /// The time of the last change from offline to online, or back.
        package var changedAt: Timestamp
        package var transport: BrokerTransport

        package init(connections: Int, changedAt: Timestamp, transport: BrokerTransport = .tcp) {
            self.connections = connections
            self.changedAt = changedAt
            self.transport = transport
        }

        package var isOnline: Bool { self.connections > 0 }
    }

    /// The client ID of test connections, which check whether the broker accepts a new password.
    static let probeID = "kii-push-probe"

    private static let endings = [
        " disconnected", " closed its connection", " has exceeded timeout", " been disconnected", " already connected",
    ]

    /// A user name that came online or went offline.
    struct Change: Sendable {
        var username: String
        var isOnline: Bool
        var transport: BrokerTransport
    }

    private var changes: [Change] = []
    package var tlsPort: UInt16 = 0
    /// The addresses of TLS connections that have not logged in yet.
    private var unnamed: Set<Substring> = []
    private var clients: [String: String] = [:]
    package private(set) var statuses: [String: Status] = [:]

    package init() {}

    package mutating func read(_ line: String) {
        guard let mark = line.firstRange(bytesOf: ": "), let seconds = UInt32(line[..<mark.lowerBound]) else { return }
        let time = Timestamp(millisecondsSinceEpoch: Int64(seconds) * 1000)
        let text = line[mark.upperBound...]
        if text.hasPrefix("New connection from ") {
            // The text is `ADDRESS on port PORT.`
            let words = text.split(separator: " ")
            if words.count == 7, words[6] == "\(self.tlsPort)." { self.unnamed.insert(words[3]) }
        } else if text.hasPrefix("New client connected from ") {
            // The text is `ADDRESS as CLIENT (p2, c1, k60, u'NAME').`
            guard let id = text.firstRange(bytesOf: " as "), let details = text.lastRange(bytesOf: " (p"),
                id.upperBound <= details.lowerBound, let name = text.lastRange(bytesOf: ", u'"), text.hasSuffix("').")
            else { return }
            let address = text[..<id.lowerBound].dropFirst("New client connected from ".count)
            let isTLS = self.unnamed.remove(address) != nil
            let clientID = String(text[id.upperBound..<details.lowerBound])
            guard clientID != BrokerConnections.probeID else { return }
            let transport = BrokerTransport(address: address, isTLS: isTLS)
            self.begin(clientID, as: String(text[name.upperBound...].dropLast(3)), over: transport, at: time)
        } else if text.hasPrefix("Client ") {
            let rest = text.dropFirst("Client ".count)
            for ending in BrokerConnections.endings {
                guard let range = rest.lastRange(bytesOf: ending) else { continue }
                self.end(String(rest[..<range.lowerBound]), at: time)
            }
        }
    }

    package mutating func endAll(at time: Timestamp) {
        for clientID in self.clients.keys.sorted() { self.end(clientID, at: time) }
    }

    mutating func forget(_ name: String) {
        guard let status = self.statuses.removeValue(forKey: name), status.isOnline else { return }
        self.changes.append(Change(username: name, isOnline: false, transport: status.transport))
    }

    private mutating func begin(
        _ clientID: String, as name: String, over transport: BrokerTransport, at time: Timestamp
    ) {
        // The log may lack the line for the end of the client's earlier connection.
        self.end(clientID, at: time)
        self.clients[clientID] = name
        var status = self.statuses[name] ?? Status(connections: 0, changedAt: time)
        status.connections += 1
        status.transport = transport
        if status.connections == 1 { self.note(&status, of: name, at: time) }
        self.statuses[name] = status
    }

    private mutating func end(_ clientID: String, at time: Timestamp) {
        guard let name = self.clients.removeValue(forKey: clientID), var status = self.statuses[name] else { return }
        status.connections -= 1
        if !status.isOnline { self.note(&status, of: name, at: time) }
        self.statuses[name] = status
    }

    private mutating func note(_ status: inout Status, of name: String, at time: Timestamp) {
        status.changedAt = time
        self.changes.append(Change(username: name, isOnline: status.isOnline, transport: status.transport))
    }

    mutating func takeChanges() -> [Change] {
        defer { self.changes = [] }
        return self.changes
    }
}
