import KiiPushCore
import Testing

/// One renewal of the token serves all waiting calls, even if some are cancelled or the renewal fails.
@Suite struct KiiSessionSharingTests {
    private let fixture = SessionFixture()

    @Test func aHundredTasksSignInOnce() async throws {
        let session = self.fixture.session()
        let tokens = try await withThrowingTaskGroup(of: Secret.self) { group in
            for _ in 0..<100 { group.addTask { try await session.token().token } }
            return try await group.reduce(into: Set<Secret>()) { $0.insert($1) }
        }
        #expect(tokens == ["t1"])
        #expect(self.fixture.cloud.logins == 1)
    }

    @Test func aHundredRefusedCallsSpendOneRefreshToken() async throws {
        let stored = AccessToken(principal: .user("u1"), token: "old", refreshToken: "r0")
        let session = self.fixture.session(stored)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await self.fixture.call(session) } }
            try await group.waitForAll()
        }
        #expect(self.fixture.cloud.refreshesAskedFor == ["r0"])
        #expect(self.fixture.cloud.logins == 0)
        let log = self.fixture.log.withLock { $0 }
        #expect(log.filter { $0 == "store t1" }.count == 1)
        let firstUse = try #require(log.firstIndex(of: "use t1"))
        #expect(try #require(log.firstIndex(of: "store t1")) < firstUse)
    }

    /// On one actor each task runs until it waits. So the tasks after the first wait for the first task's renewal.
    @MainActor
    private func start(_ session: KiiSession) -> Task<Secret, any Error> {
        Task { @MainActor in try await session.token().token }
    }

    private func session(signingInThrough gate: Gate, count: Locked<Int>) -> KiiSession {
        KiiSession(client: self.fixture.client) {
            let number = count.withLock { count in
                count += 1
                return count
            }
            try await gate.pass()
            return AccessToken(principal: .user("u1"), token: Secret("t\(number)"))
        }
    }

    @MainActor
    @Test func whenTheOneWhoWorksIsCancelledTheNextTakesOver() async throws {
        let (gate, count) = (Gate(), Locked(0))
        let session = self.session(signingInThrough: gate, count: count)
        let tasks = (0..<4).map { _ in self.start(session) }
        await gate.arrived()
        await Task.yield()
        // The second task would take over, but is cancelled first.
        tasks[1].cancel()
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        await gate.arrived()
        gate.open()
        #expect(try await tasks[2].value == "t2")
        #expect(try await tasks[3].value == "t2")
        #expect(count.withLock { $0 } == 2)
    }

    @MainActor
    @Test func whenAllAreCancelledTheNextCallBeginsAnew() async throws {
        let (gate, count) = (Gate(), Locked(0))
        let session = self.session(signingInThrough: gate, count: count)
        let tasks = (0..<3).map { _ in self.start(session) }
        await gate.arrived()
        for task in tasks.reversed() { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        let next = self.start(session)
        await gate.arrived()
        gate.open()
        #expect(try await next.value == "t2")
    }

    @MainActor
    @Test func aFailureIsToldToAllWhoWaitedAndTheNextCallTriesAnew() async throws {
        struct Refusal: Error {}
        let (gate, count) = (Gate(), Locked(0))
        let session = KiiSession(client: self.fixture.client) {
            count.withLock { $0 += 1 }
            try await gate.pass()
            throw Refusal()
        }
        let tasks = (0..<3).map { _ in self.start(session) }
        await gate.arrived()
        await Task.yield()
        gate.open()
        for task in tasks { await #expect(throws: Refusal.self) { try await task.value } }
        #expect(count.withLock { $0 } == 1)
        let next = self.start(session)
        await gate.arrived()
        gate.open()
        await #expect(throws: Refusal.self) { try await next.value }
        #expect(count.withLock { $0 } == 2)
    }

    @MainActor
    @Test func nobodyGetsATokenBeforeItIsStored() async throws {
        let gate = Gate()
        let session = KiiSession(client: self.fixture.client) {
            AccessToken(principal: .user("u1"), token: "t1")
        } changed: { _ in
            try await gate.pass()
        }
        let finished = Locked(0)
        let tasks = (0..<3).map { _ in
            Task { @MainActor in
                _ = try await session.token()
                finished.withLock { $0 += 1 }
            }
        }
        await gate.arrived()
        await Task.yield()
        #expect(finished.withLock { $0 } == 0)
        gate.open()
        for task in tasks { try await task.value }
        #expect(finished.withLock { $0 } == 3)
    }
}
