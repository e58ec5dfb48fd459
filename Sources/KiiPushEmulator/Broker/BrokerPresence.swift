import Glibc
package import KiiPushCore

/// The clients at the broker, read from the broker's log when the log changes and when a caller asks.
///
/// The broker logs each connection and its end before it does anything else, so the log shows what the broker knew at
/// that time. A client that vanished without a DISCONNECT counts as connected until the broker misses its keep alive.
final class BrokerPresence: Sendable {
    private struct State {
        var offset = 0
        var connections = BrokerConnections()
    }

    private let path: String
    private let state = Locked(State())
    /// Called for each client that came or went, in order, on the thread that calls ``look()``. Set once.
    private let observer = Locked<(@Sendable (BrokerConnections.Change) -> Void)?>(nil)

    /// - Parameter log: the file that the broker writes; each broker starts it anew.
    init(log: String) { self.path = log }

    /// Begins with an empty log and nobody connected. Call it while no broker runs, before the next one starts.
    ///
    /// - Parameter tlsPort: the TLS port of the next broker.
    func restart(tlsPort: UInt16) {
        self.state.withLock { state in
            unlink(self.path)
            state.offset = 0
            state.connections.endAll(at: .now())
            state.connections.tlsPort = tlsPort
        }
    }

    /// Calls `observer`, from ``look()``, for each client that comes or goes from now on.
    func observe(_ observer: @escaping @Sendable (BrokerConnections.Change) -> Void) {
        self.observer.withLock { $0 = observer }
    }

    /// Reads the new part of the log and calls the observer.
    func look() {
        guard self.statuses() != nil, let observer = self.observer.withLock({ $0 }) else { return }
        for change in self.state.withLock({ $0.connections.takeChanges() }) { observer(change) }
    }

    /// Drops user names that are never used again.
    func forget(_ usernames: [String]) {
        self.state.withLock { state in
            for name in usernames { state.connections.forget(name) }
        }
    }

    /// The status of each user name that has connected; `nil` when the log cannot be read.
    func statuses() -> [String: BrokerConnections.Status]? {
        self.state.withLock { state -> [String: BrokerConnections.Status]? in
            guard let file = FileDescriptor(opening: self.path, O_RDONLY) else {
                // No log: the broker, which writes it, has not started yet.
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
                // The bytes after the last line end are an incomplete line.
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

/// The connections that the lines of a mosquitto log describe. Pure.
///
/// - Source: mosquitto 2.0, `connection_messages` of mosquitto.conf(5): `New client connected from …` and `Client …
///   disconnected`, with the seconds since 1970 before them.
package struct BrokerConnections: Sendable {
    package struct Status: Sendable, Hashable {
        package var connections: Int
        /// When the first client came, or the last one went.
        package var changedAt: Timestamp
        package var transport: BrokerTransport

        package init(connections: Int, changedAt: Timestamp, transport: BrokerTransport = .tcp) {
            self.connections = connections
            self.changedAt = changedAt
            self.transport = transport
        }

        package var isOnline: Bool { self.connections > 0 }
    }

    /// The client ID with which the emulator tests whether the broker accepts a password yet.
    static let probeID = "kii-push-probe"

    private static let endings = [
        " disconnected", " closed its connection", " has exceeded timeout", " been disconnected", " already connected",
    ]

    /// A user name whose first client came, or whose last one went.
    struct Change: Sendable {
        var username: String
        var isOnline: Bool
        var transport: BrokerTransport
    }

    /// In order, until a caller takes them.
    private var changes: [Change] = []
    /// The broker's TLS port; 0 for none.
    package var tlsPort: UInt16 = 0
    /// The addresses of TLS connections that have not logged in yet: at most one for each port.
    private var unnamed: Set<Substring> = []
    /// Client ID to user name.
    private var clients: [String: String] = [:]
    package private(set) var statuses: [String: Status] = [:]

    package init() {}

    /// Reads one line; ignores lines about anything else.
    package mutating func read(_ line: String) {
        guard let mark = line.firstRange(bytesOf: ": "), let seconds = UInt32(line[..<mark.lowerBound]) else { return }
        let time = Timestamp(millisecondsSinceEpoch: Int64(seconds) * 1000)
        let text = line[mark.upperBound...]
        if text.hasPrefix("New connection from ") {
            // `ADDRESS on port PORT.`
            let words = text.split(separator: " ")
            if words.count == 7, words[6] == "\(self.tlsPort)." { self.unnamed.insert(words[3]) }
        } else if text.hasPrefix("New client connected from ") {
            // `ADDRESS as CLIENT (p2, c1, k60, u'NAME').`
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

    /// Drops a name that is never used again. The broker is about to cut a client that is still connected with it.
    mutating func forget(_ name: String) {
        guard let status = self.statuses.removeValue(forKey: name), status.isOnline else { return }
        self.changes.append(Change(username: name, isOnline: false, transport: status.transport))
    }

    private mutating func begin(
        _ clientID: String, as name: String, over transport: BrokerTransport, at time: Timestamp
    ) {
        // mosquitto may log no end for the former connection of a client.
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
