import KiiPushCore
import TestSupport
import Testing

/// A session with its cloud, its clock and its store, all in the hands of the test.
final class SessionFixture: Sendable {
    struct StoreFailure: Error {}

    let cloud = TokenCloud()
    let time = Locked(testNow)
    /// What was stored, and what was used for calls, in order.
    let log = Locked<[String]>([])
    let storeFails = Locked(false)

    var client: KiiClient {
        KiiClient(app: testApp, transport: self.cloud, retry: .none, now: { self.time.withLock { $0 } })
    }

    /// A session of the user `u1`, who signs in with a password unless there is none.
    func session(_ token: AccessToken? = nil, hasPassword: Bool = true) -> KiiSession {
        KiiSession(client: self.client, token: token) { [client] in
            guard hasPassword else { return nil }
            return try await client.login(.user(name: "alice", password: "pw"))
        } changed: { token in
            self.log.withLock { $0.append("store \(token.token.reveal())") }
            if self.storeFails.withLock({ $0 }) { throw StoreFailure() }
        }
    }

    /// Asks whether a topic is there, as any call does that needs a token.
    func call(_ session: KiiSession) async throws {
        try await session.withToken { token in
            self.log.withLock { $0.append("use \(token.token.reveal())") }
            _ = try await session.client.session(token.token).topicExists(Topic("news"))
        }
    }

    func pass(_ duration: Duration) { self.time.withLock { $0 = $0 + duration } }
}

/// A closed gate; who comes is told of, and waits until it is opened or cancelled.
final class Gate: Sendable {
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let waiting = Locked<[AsyncStream<Void>.Continuation]>([])

    init() { (self.arrivals, self.arrival) = AsyncStream.makeStream() }

    func pass() async throws {
        // A stream for each who waits: cancelling one ends its stream.
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        self.waiting.withLock { $0.append(opening) }
        self.arrival.yield()
        for await _ in opened { break }
        try Task.checkCancellation()
    }

    /// Lets all through who are there.
    func open() {
        let waiting = self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for one in waiting { one.yield() }
    }

    /// Waits for the next one to come.
    func arrived() async { for await _ in self.arrivals { break } }
}
