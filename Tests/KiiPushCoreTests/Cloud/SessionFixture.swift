import KiiPushCore
import TestSupport
import Testing

final class SessionFixture: Sendable {
    struct StoreFailure: Error {}

    let cloud = TokenCloud()
    let time = Locked(testNow)
    let log = Locked<[String]>([])
    let storeFails = Locked(false)

    var client: KiiClient {
        KiiClient(app: testApp, transport: self.cloud, retry: .none, now: { self.time.withLock { $0 } })
    }

    /// A session of the user `u1`. Without a password the session cannot sign in.
    func session(_ token: AccessToken? = nil, hasPassword: Bool = true) -> KiiSession {
        KiiSession(client: self.client, token: token) { [client] in
            guard hasPassword else { return nil }
            return try await client.login(.user(name: "alice", password: "pw"))
        } changed: { token in
            self.log.withLock { $0.append("store \(token.token.reveal())") }
            if self.storeFails.withLock({ $0 }) { throw StoreFailure() }
        }
    }

    func call(_ session: KiiSession) async throws {
        try await session.withToken { token in
            self.log.withLock { $0.append("use \(token.token.reveal())") }
            _ = try await session.client.session(token.token).topicExists(Topic("news"))
        }
    }

    func pass(_ duration: Duration) { self.time.withLock { $0 = $0 + duration } }
}

/// A closed gate: reports each arriving task, which then waits until the gate opens or the task is cancelled.
final class Gate: Sendable {
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let waiting = Locked<[AsyncStream<Void>.Continuation]>([])

    init() { (self.arrivals, self.arrival) = AsyncStream.makeStream() }

    func pass() async throws {
        // Each waiting task has its own stream, because cancelling a task ends its stream.
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        self.waiting.withLock { $0.append(opening) }
        self.arrival.yield()
        for await _ in opened { break }
        try Task.checkCancellation()
    }

    func open() {
        let waiting = self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for one in waiting { one.yield() }
    }

    func arrived() async { for await _ in self.arrivals { break } }
}
