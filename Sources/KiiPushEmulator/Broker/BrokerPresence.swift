import Glibc
package import KiiPushCore

/// Who is connected to the broker, read from the broker's log when it was written to and when somebody asks.
///
/// The broker writes a line for each connection and for its end before it does anything else, so this is what the broker
/// knew when it was asked. A client that vanished without a word is connected until the broker misses its keep alive.
final class BrokerPresence: Sendable {
    private struct State {
        /// How much of the log has been read.
        var offset = 0
        var connections = BrokerConnections()
    }

    private let path: String
    private let state = Locked(State())
    /// Told of who came or went, in order, on the thread that looks; set once.
    private let observer = Locked<(@Sendable (BrokerConnections.Change) -> Void)?>(nil)

    /// - Parameter log: where the broker writes; it starts anew with each broker.
    init(log: String) { self.path = log }

    /// Begins with an empty log and nobody connected. To be called when there is no broker, before the next one is
    /// started.
    ///
    /// - Parameter tlsPort: where that broker is to take TLS.
    func restart(tlsPort: UInt16) {
        self.state.withLock { state in
            unlink(self.path)
            state.offset = 0
            state.connections.endAll(at: .now())
            state.connections.tlsPort = tlsPort
        }
    }

    /// Has `observer` told of everybody who comes or goes from now on, when ``look()`` is called.
    func observe(_ observer: @escaping @Sendable (BrokerConnections.Change) -> Void) {
        self.observer.withLock { $0 = observer }
    }

    /// Reads what the broker has written since, and tells the observer.
    func look() {
        guard self.statuses() != nil, let observer = self.observer.withLock({ $0 }) else { return }
        for change in self.state.withLock({ $0.connections.takeChanges() }) { observer(change) }
    }

    /// Lets go of what is known of user names that are never used again.
    func forget(_ usernames: [String]) {
        self.state.withLock { state in
            for name in usernames { state.connections.forget(name) }
        }
    }

    /// What is known of each user name that has connected; `nil` when the log cannot be read.
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
                // What follows the last line end is half a line.
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

/// The connections that the lines of a mosquitto log tell of. Pure.
///
/// - Source: mosquitto 2.0, `connection_messages` of mosquitto.conf(5): `New client connected from …` and
///   `Client … disconnected`, with the seconds since 1970 before them.
package struct BrokerConnections: Sendable {
    /// What is known of a user name that has connected.
    package struct Status: Sendable, Hashable {
        /// How many clients are connected with it.
        package var connections: Int
        /// When the first of them came, or the last one went.
        package var changedAt: Timestamp
        /// How the last of them came.
        package var transport: BrokerTransport

        package init(connections: Int, changedAt: Timestamp, transport: BrokerTransport = .tcp) {
            self.connections = connections
            self.changedAt = changedAt
            self.transport = transport
        }

        package var isOnline: Bool { self.connections > 0 }
    }

    /// The emulator's own look whether a password is accepted yet; it logs in as a client.
    static let probeID = "kii-push-probe"

    private static let endings = [
        " disconnected", " closed its connection", " has exceeded timeout", " been disconnected", " already connected",
    ]

    /// A user name with which the first client came, or the last one went.
    struct Change: Sendable {
        var username: String
        var isOnline: Bool
        var transport: BrokerTransport
    }

    /// In order, until they are taken.
    private var changes: [Change] = []
    /// Where the broker takes TLS; 0 for nowhere.
    package var tlsPort: UInt16 = 0
    /// The addresses of connections with TLS that have not logged in: one for each port at most.
    private var unnamed: Set<Substring> = []
    /// Client ID to user name.
    private var clients: [String: String] = [:]
    /// By user name.
    package private(set) var statuses: [String: Status] = [:]

    package init() {}

    /// Takes one line in; lines about anything else are passed over.
    package mutating func read(_ line: String) {
        guard let mark = line.firstRange(bytesOf: ": "), let seconds = UInt32(line[..<mark.lowerBound]) else { return }
        let time = Timestamp(millisecondsSinceEpoch: Int64(seconds) * 1000)
        let text = line[mark.upperBound...]
        if text.hasPrefix("New connection from ") {
            // `ADDRESS on port PORT.`
            let words = text.split(separator: " ")
            if words.count == 6, words[5] == "\(self.tlsPort)." { self.unnamed.insert(words[3]) }
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

    /// Ends every connection, as the broker's own end does.
    package mutating func endAll(at time: Timestamp) {
        for clientID in self.clients.keys.sorted() { self.end(clientID, at: time) }
    }

    /// Lets go of a name that is never used again. Who is still connected with it is about to be cut off.
    mutating func forget(_ name: String) {
        guard let status = self.statuses.removeValue(forKey: name), status.isOnline else { return }
        self.changes.append(Change(username: name, isOnline: false, transport: status.transport))
    }

    private mutating func begin(
        _ clientID: String, as name: String, over transport: BrokerTransport, at time: Timestamp
    ) {
        // The former connection of a client may end without a line of its own.
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

    /// Who came and went since the last time, in order.
    mutating func takeChanges() -> [Change] {
        defer { self.changes = [] }
        return self.changes
    }
}
