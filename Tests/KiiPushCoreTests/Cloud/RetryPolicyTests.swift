import KiiPushCore
import TestSupport
import Testing

private struct Attempted<Output> {
    var requests: Int
    var sleeps: [Duration]
    var result: Result<Output, any Error>
}

private typealias Answer = Result<HTTPResponse, TransportError>

@Suite struct RetryPolicyTests {
    private static let lost = Answer.failure(TransportError(.connectionLost, detail: "lost"))
    private static let late = Answer.failure(TransportError(.timedOut, detail: "late"))
    private static let refused = Answer.failure(TransportError(.connectionRefused, detail: "nobody there"))
    private static let unresolved = Answer.failure(TransportError(.nameNotResolved, detail: "no such host"))
    private static func refusal(_ status: Int, _ code: String, retryAfter: String? = nil) -> Answer {
        var answer = HTTPResponse.refusal(status, code)
        if let retryAfter { answer.fields.append(HTTPField("Retry-After", retryAfter)) }
        return .success(answer)
    }

    private static let done = Answer.success(.status(204))
    private static let sent = Answer.success(.status(201, #"{"pushMessageID":"m1"}"#))

    private func attempt<Output>(
        _ answers: [Answer],
        _ configure: (inout RetryPolicy) -> Void = { _ in },
        call: (KiiClient) async throws -> Output
    ) async -> Attempted<Output> {
        let clock = RecordingClock()
        var policy = RetryPolicy(clock: clock, jitter: { 0 })
        configure(&policy)
        let transport = FakeTransport(answers)
        let client = KiiClient(app: testApp, transport: transport, retry: policy, now: { testNow })
        let result: Result<Output, any Error>
        do {
            result = .success(try await call(client))
        } catch {
            result = .failure(error)
        }
        return Attempted(requests: transport.requests.count, sleeps: clock.sleeps, result: result)
    }

    private func check(_ client: KiiClient) async throws {
        _ = try await client.session(testToken).topicExists(Topic("news"))
    }

    private func send(_ client: KiiClient) async throws {
        _ = try await client.session(testToken).send(PushMessage(data: ["n": 1]), to: .topic(Topic("news")))
    }

    // MARK: Repeated calls

    @Test(arguments: [
        lost, late, refused, unresolved, .failure(TransportError(.tlsFailed, detail: "reset in the handshake")),
        refusal(429, "X"), refusal(502, "X"), refusal(503, "TEMPORARY_UNAVAILABLE_ERROR"), refusal(504, "X"),
        .success(.status(408, "<html>")), .success(.status(425)),
    ])
    private func anIdempotentCallSurvivesWhatPasses(_ first: Answer) async throws {
        let attempted = await self.attempt([first, Self.done], call: self.check)
        #expect(throws: Never.self) { try attempted.result.get() }
        #expect(attempted.requests == 2)
        #expect(attempted.sleeps == [.milliseconds(500)])
    }

    @Test(arguments: [
        refusal(400, "X"), refusal(401, "UNAUTHORIZED"), refusal(404, "APP_NOT_FOUND"), refusal(500, "UNDEFINED_ERROR"),
        refusal(501, "X"), .success(.status(206)),
        .failure(TransportError(.certificateNotTrusted, detail: "x")), .failure(TransportError(.shutDown, detail: "x")),
        .failure(TransportError(.invalidConfiguration, detail: "x")), .failure(TransportError(.tooLarge, detail: "x")),
        .failure(TransportError(.other, detail: "x")),
    ])
    private func whatWouldComeAgainIsNotRepeated(_ first: Answer) async throws {
        let attempted = await self.attempt([first, Self.done], call: self.check)
        #expect(throws: (any Error).self) { try attempted.result.get() }
        #expect(attempted.requests == 1 && attempted.sleeps.isEmpty)
    }

    @Test(arguments: [
        lost, late, refusal(429, "X"), refusal(502, "X", retryAfter: "1"), refusal(503, "X"),
        refusal(504, "X", retryAfter: "1"), .success(.status(408, "<html>")),
    ])
    private func aMessageThatMayHaveBeenSentIsNotSentAgain(_ first: Answer) async throws {
        let attempted = await self.attempt([first, Self.sent], call: self.send)
        #expect(throws: (any Error).self) { try attempted.result.get() }
        #expect(attempted.requests == 1)
    }

    @Test(arguments: [
        (refused, Duration.milliseconds(500)), (unresolved, .milliseconds(500)),
        (.success(.status(425)), .milliseconds(500)),
        (refusal(503, "X", retryAfter: "7"), .seconds(7)), (refusal(429, "X", retryAfter: "0"), .zero),
    ])
    private func aMessageThatWasCertainlyNotSentIsSentAgain(_ first: Answer, wait: Duration) async throws {
        let attempted = await self.attempt([first, Self.sent], call: self.send)
        #expect(throws: Never.self) { try attempted.result.get() }
        #expect(attempted.requests == 2 && attempted.sleeps == [wait])
    }

    /// Calls with POST that may be repeated, and calls with other methods that may not.
    @Test(arguments: repeatable)
    private func theCallSaysWhetherItMayBeMadeTwice(_ row: RepeatableRow) async throws {
        let attempted = await self.attempt([Self.lost, .success(.status(500))], call: row.call)
        #expect(attempted.requests == (row.isIdempotent ? 2 : 1))
    }

    @Test func aStrictCreationIsNotRepeatedInDoubt() async throws {
        let attempted = await self.attempt([Self.lost, Self.refusal(409, "TOPIC_ALREADY_EXISTS")]) {
            try await $0.session(testToken).createTopic(Topic("news"), acceptsExisting: false)
        }
        #expect(#expect(throws: TransportError.self) { try attempted.result.get() }?.code == .connectionLost)
        #expect(attempted.requests == 1)
    }

    // MARK: Waits

    @Test func theWaitsDoubleUpToTheirLimit() async throws {
        let answers = Array(repeating: Self.lost, count: 8) + [Self.done]
        let attempted = await self.attempt(answers) {
            $0.maximumRequests = 9
            $0.budget = .seconds(60)
        } call: {
            try await self.check($0)
        }
        #expect(throws: Never.self) { try attempted.result.get() }
        #expect(attempted.sleeps == [0.5, 1, 2, 4, 8, 8, 8, 8].map { .seconds($0) })
    }

    @Test func theLastFailureIsToldWhenTheRequestsAreUsedUp() async throws {
        let answers = [Self.refused, Self.lost, Self.refusal(503, "LOCK_FAILED"), Self.done]
        let attempted = await self.attempt(answers, call: self.check)
        #expect(#expect(throws: KiiError.self) { try attempted.result.get() }?.errorCode == "LOCK_FAILED")
        #expect(attempted.requests == 3)
    }

    @Test func whatTheServerAsksForIsNeverShortened() async throws {
        let slow = Self.refusal(503, "X", retryAfter: "30")
        let within = await self.attempt([slow, Self.done], { $0.jitter = { 1 } }, call: self.check)
        #expect(within.sleeps == [.seconds(30)])
        let beyond = await self.attempt([Self.refusal(503, "X", retryAfter: "31"), Self.done], call: self.check)
        #expect(#expect(throws: KiiError.self) { try beyond.result.get() }?.retryAfter == .seconds(31))
        #expect(beyond.requests == 1 && beyond.sleeps.isEmpty)
        let second = await self.attempt([slow, slow, Self.done], call: self.check)
        #expect(second.requests == 2 && second.sleeps == [.seconds(30)])
    }

    @Test func jitterLengthensEachWait() async throws {
        let attempted = await self.attempt(
            [Self.lost, Self.lost, Self.done], { $0.jitter = { 0.5 } }, call: self.check)
        #expect(attempted.sleeps == [.milliseconds(750), .milliseconds(1500)])
    }

    @Test func withoutAPolicyThereIsOneRequest() async throws {
        let attempted = await self.attempt([Self.refused, Self.done], { $0 = .none }, call: self.check)
        #expect(throws: TransportError.self) { try attempted.result.get() }
        #expect(attempted.requests == 1)
    }

    @Test func cancellationEndsTheWait() async throws {
        let (isSleeping, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .unbounded)
        let policy = RetryPolicy(clock: EndlessClock(isSleeping: continuation))
        let client = KiiClient(app: testApp, transport: FakeTransport([Self.lost, Self.done]), retry: policy)
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.check(client) }
                for await _ in isSleeping { break }
                group.cancelAll()
                try await group.next()
            }
        }
    }

    // MARK: Answers to repetitions

    @Test func whatIsGoneAtTheSecondAttemptWasRemoved() async throws {
        let missing = Self.refusal(404, "TOPIC_NOT_FOUND")
        let repeated = await self.attempt([Self.lost, missing]) {
            try await $0.session(testToken).deleteTopic(Topic("news"))
        }
        #expect(throws: Never.self) { try repeated.result.get() }
        let first = await self.attempt([missing]) { try await $0.session(testToken).deleteTopic(Topic("news")) }
        #expect(#expect(throws: KiiError.self) { try first.result.get() }?.errorCode == KiiErrorCode.topicNotFound)
        // The first request was never sent, so the 404 means that the topic did not exist.
        let unsent = await self.attempt([Self.refused, missing]) {
            try await $0.session(testToken).deleteTopic(Topic("news"))
        }
        #expect(#expect(throws: KiiError.self) { try unsent.result.get() }?.errorCode == KiiErrorCode.topicNotFound)
    }

    @Test(arguments: [
        Answer.success(.status(404, "<html>")), refusal(404, "APP_NOT_FOUND"), refusal(401, "UNAUTHORIZED"),
    ])
    private func aRepetitionInTheWrongPlaceIsNoSuccess(_ second: Answer) async throws {
        let attempted = await self.attempt([Self.lost, second]) {
            try await $0.session(testToken).deleteInstallation(.id("i1"))
        }
        #expect(throws: KiiError.self) { try attempted.result.get() }
    }

    @Test func whatIsThereAtTheSecondAttemptCountsAsMade() async throws {
        let attempted = await self.attempt([Self.lost, Self.refusal(409, "TOPIC_ALREADY_EXISTS")]) {
            try await $0.session(testToken).createTopic(Topic("news"))
        }
        #expect(try attempted.result.get() == false)
    }
}

private struct RepeatableRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var isIdempotent: Bool
    var call: @Sendable (KiiClient) async throws -> Void

    init(_ name: String, _ isIdempotent: Bool, _ call: @escaping @Sendable (KiiClient) async throws -> Void) {
        self.testDescription = name
        self.isIdempotent = isIdempotent
        self.call = call
    }
}

private let repeatable: [RepeatableRow] = [
    RepeatableRow("createInstallation", true) { _ = try await $0.session(testToken).createInstallation() },
    RepeatableRow("a user's login", true) { _ = try await $0.login(.user(name: "alice", password: "pw")) },
    RepeatableRow("an administrator's login", true) {
        _ = try await $0.login(.administrator(clientID: "c", clientSecret: "s"))
    },
    RepeatableRow("refresh", false) {
        _ = try await $0.refresh(AccessToken(principal: nil, token: "t", refreshToken: "rt"))
    },
    RepeatableRow("registerPseudoUser", false) { _ = try await $0.registerPseudoUser() },
    RepeatableRow("send", false) {
        try await $0.session(testToken).send(PushMessage(data: ["n": 1]), to: .topic(Topic("news")))
    },
    RepeatableRow("createTopic", true) { try await $0.session(testToken).createTopic(Topic("news")) },
    RepeatableRow("createTopic, new", false) {
        try await $0.session(testToken).createTopic(Topic("news"), acceptsExisting: false)
    },
    RepeatableRow("subscribe", true) {
        try await $0.session(testToken).subscribe(to: .topic(Topic("news")), as: alice)
    },
    RepeatableRow("subscribe, new", false) {
        try await $0.session(testToken).subscribe(to: .topic(Topic("news")), as: alice, acceptsExisting: false)
    },
    RepeatableRow("grant", true) { try await $0.session(testToken).grant(.send, on: Topic("news"), to: .user("u")) },
    RepeatableRow("grant, new", false) {
        try await $0.session(testToken).grant(.send, on: Topic("news"), to: .user("u"), acceptsExisting: false)
    },
    RepeatableRow("revoke", true) {
        try await $0.session(testToken).revoke(.send, on: Topic("news"), from: .user("u"))
    },
    RepeatableRow("createObject", false) { _ = try await $0.session(testToken).createObject([:], in: Bucket("b")) },
    RepeatableRow("putObject", true) {
        try await $0.session(testToken).putObject([:], as: ObjectReference("o-1", in: Bucket("b")))
    },
    RepeatableRow("patchObject", true) {
        try await $0.session(testToken).patchObject([:], of: ObjectReference("o-1", in: Bucket("b")))
    },
    RepeatableRow("changePassword", false) {
        try await $0.session(testToken).changePassword(from: "old pw", to: "new pw")
    },
]
