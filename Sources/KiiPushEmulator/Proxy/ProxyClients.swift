import KiiPushCore

/// The user names of the connections whose packets the proxy can read.
final class ProxyClients: ProxyObserver {
    private struct State {
        var lastConnection = 0
        var usernames: [Int: String] = [:]
    }

    private let state = Locked(State())
    private let whenEnded = Locked<(@Sendable (EndedWebSocket) -> Void)?>(nil)

    var usernames: Set<String> { self.state.withLock { Set($0.usernames.values) } }

    func observe(_ body: @escaping @Sendable (EndedWebSocket) -> Void) { self.whenEnded.withLock { $0 = body } }

    func ended(_ webSocket: EndedWebSocket) { self.whenEnded.withLock { $0 }?(webSocket) }

    func connected() -> Int {
        self.state.withLock { state in
            state.lastConnection += 1
            return state.lastConnection
        }
    }

    func passed(_ packet: ProxyPacket, _ direction: Direction, connection: Int, copies: Int) {
        guard let username = packet.username, direction == .toBroker else { return }
        self.state.withLock { $0.usernames[connection] = username }
    }

    func ended(_ connection: Int, byCut: Bool) { self.state.withLock { $0.usernames[connection] = nil } }
}
