import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct KiiSessionTests {
    private let fixture = SessionFixture()
    private var cloud: TokenCloud { self.fixture.cloud }

    // MARK: Before the token expires

    @Test func itSignsInWhenThereIsNoTokenAndOnlyThen() async throws {
        let session = self.fixture.session()
        #expect(self.cloud.logins == 0)
        #expect(try await session.token() == AccessToken(principal: .user("u1"), token: "t1", refreshToken: "r1"))
        _ = try await session.token()
        #expect(self.cloud.logins == 1 && self.cloud.refreshesAskedFor.isEmpty)
    }

    @Test func aTokenIsRefreshedWhenLessThanFiveMinutesAreLeft() async throws {
        self.cloud.change { $0.lifetime = 3600 }
        let session = self.fixture.session()
        _ = try await session.token()
        self.fixture.pass(.seconds(3299))
        #expect(try await session.token().token == "t1")
        self.fixture.pass(.seconds(1))
        #expect(try await session.token().token == "t2")
        #expect(self.cloud.refreshesAskedFor == ["r1"] && self.cloud.logins == 1)
    }

    @Test func aShortTokenIsUsedForHalfItsTime() async throws {
        self.cloud.change { $0.lifetime = 60 }
        let session = self.fixture.session()
        _ = try await session.token()
        self.fixture.pass(.seconds(29))
        #expect(try await session.token().token == "t1")
        self.fixture.pass(.seconds(1))
        #expect(try await session.token().token == "t2")
    }

    @Test func aStoredTokenIsRenewedByItsEnd() async throws {
        let stored = AccessToken(principal: .user("u1"), token: "old", expiresAt: testNow + .seconds(299))
        #expect(try await self.fixture.session(stored).token().token == "t1")
        let endless = AccessToken(
            principal: .user("u1"), token: "old", expiresAt: Timestamp(millisecondsSinceEpoch: .max))
        #expect(try await self.fixture.session(endless).token() == endless)
    }

    // MARK: After a refusal

    @Test func aRefusedTokenIsReplacedOnce() async throws {
        let session = self.fixture.session(AccessToken(principal: .user("u1"), token: "old"))
        try await self.fixture.call(session)
        #expect(self.cloud.calls == ["old", "t1"])
        try await self.fixture.call(session)
        #expect(self.cloud.calls == ["old", "t1", "t1"] && self.cloud.logins == 1)
    }

    @Test func aCallThatIsRefusedTwiceEndsInTheRefusal() async throws {
        let session = self.fixture.session()
        let bodies = Locked(0)
        let error = await #expect(throws: KiiError.self) {
            try await session.withToken { _ in
                bodies.withLock { $0 += 1 }
                throw KiiError(
                    operation: KiiOperation(method: .get, path: "/x"), status: 401, errorCode: KiiErrorCode.unauthorized
                )
            }
        }
        #expect(error?.errorCode == KiiErrorCode.unauthorized)
        #expect(bodies.withLock { $0 } == 2)
    }

    @Test(arguments: [
        (KiiError(operation: KiiOperation(method: .get, path: "/"), status: 403, errorCode: KiiErrorCode.appDisabled)),
        (KiiError(operation: KiiOperation(method: .get, path: "/"), status: 404, errorCode: KiiErrorCode.topicNotFound)),
        // The cloud knows the caller, so the caller lacks the right and the token is valid.
        (KiiError(
            operation: KiiOperation(method: .get, path: "/"), status: 401, errorCode: KiiErrorCode.unauthorized,
            context: ["authenticatedPrincipalID": "u1"])),
    ])
    func anotherRefusalCostsNoToken(_ refusal: KiiError) async throws {
        let session = self.fixture.session()
        await #expect(throws: refusal) { try await session.withToken { _ in throw refusal } }
        #expect(self.cloud.logins == 1 && self.cloud.refreshesAskedFor.isEmpty)
    }

    @Test func aCallIsMadeWithTheSessionsToken() async throws {
        let session = self.fixture.session()
        #expect(try await session.topicExists(Topic("news")))
        #expect(self.cloud.calls == ["t1"])
    }

    // MARK: Refresh tokens work once

    @Test func aRefusedRefreshTokenGivesWayToThePassword() async throws {
        let stored = AccessToken(principal: .user("u1"), token: "old", refreshToken: "used before")
        let session = self.fixture.session(stored)
        try await self.fixture.call(session)
        #expect(self.cloud.refreshesAskedFor == ["used before"] && self.cloud.logins == 1)
    }

    @Test func aRefreshTokenWhoseAnswerWasLostIsNotSentAgain() async throws {
        self.cloud.change {
            $0.lifetime = 3600
            $0.isAnswerLost = false
        }
        let session = self.fixture.session()
        _ = try await session.token()
        self.fixture.pass(.seconds(3500))
        self.cloud.change { $0.isAnswerLost = true }
        await #expect(throws: TransportError.self) { try await session.token() }
        self.cloud.change { $0.isAnswerLost = false }
        #expect(try await session.token().token == "t3")
        #expect(self.cloud.refreshesAskedFor == ["r1"] && self.cloud.logins == 2)
    }

    @Test func aRefreshTokenInDoubtIsTriedWhenNothingElseIsLeft() async throws {
        let stored = AccessToken(principal: .user("u1"), token: "t0", refreshToken: "r0", expiresAt: testNow)
        let session = self.fixture.session(stored, hasPassword: false)
        self.cloud.change { $0.interruptions = [.failure(TransportError(.timedOut, detail: "late"))] }
        let late = await #expect(throws: TransportError.self) { try await session.token() }
        #expect(late?.isInDoubt == false)
        #expect(try await session.token().token == "t1")
        #expect(self.cloud.refreshesAskedFor == ["r0", "r0"])
    }

    @Test func aCallThatWaitedForARefreshInVainIsNotInDoubt() async throws {
        let stored = AccessToken(principal: .user("u1"), token: "t0", refreshToken: "r0", expiresAt: testNow)
        let session = self.fixture.session(stored, hasPassword: false)
        self.cloud.change { $0.interruptions = [.success(.status(503))] }
        let error = await #expect(throws: KiiError.self) { try await session.token() }
        #expect(error?.status == 503 && error?.isInDoubt == false)
    }

    @Test(arguments: [
        Result<HTTPResponse, TransportError>.failure(TransportError(.connectionRefused, detail: "nobody there")),
        .success(.status(503, "", fields: [HTTPField("Retry-After", "9")])), .success(.refusal(404, "APP_NOT_FOUND")),
        .success(.refusal(401, "USER_DISABLED")),
    ])
    func aRefreshTokenThatWasNotTakenIsSentAgain(_ answer: Result<HTTPResponse, TransportError>) async throws {
        let stored = AccessToken(principal: .user("u1"), token: "t0", refreshToken: "r0", expiresAt: testNow)
        let session = self.fixture.session(stored)
        self.cloud.change { $0.interruptions = [answer] }
        await #expect(throws: (any Error).self) { try await session.token() }
        #expect(try await session.token().token == "t1")
        #expect(self.cloud.refreshesAskedFor == ["r0", "r0"] && self.cloud.logins == 0)
    }

    /// The refusal may have been a mistake, and no other way to sign in is left.
    @Test(arguments: [(401, "UNAUTHORIZED"), (403, "WRONG_REFRESH_TOKEN"), (403, "FORBIDDEN")])
    func aRefusedRefreshTokenIsTriedAgainWhenNothingElseIsLeft(status: Int, code: String) async throws {
        let stored = AccessToken(principal: .user("u1"), token: "old", refreshToken: "r0")
        let session = self.fixture.session(stored, hasPassword: false)
        self.cloud.change { $0.interruptions = [.success(.refusal(status, code))] }
        let error = await #expect(throws: KiiError.self) { try await self.fixture.call(session) }
        #expect(error?.errorCode == KiiErrorCode.wrongToken)
        try await self.fixture.call(session)
        #expect(self.cloud.refreshesAskedFor == ["r0", "r0"] && self.cloud.calls.last == "t1")
    }

    // MARK: Nothing to renew with

    @Test func withoutAnyMeansTheTokenIsUsedUntilItIsRefused() async throws {
        let stored = AccessToken(principal: .user("u1"), token: "t0", expiresAt: testNow)
        let session = self.fixture.session(stored, hasPassword: false)
        try await self.fixture.call(session)
        self.cloud.change { $0.issued = 7 }
        let error = await #expect(throws: KiiError.self) { try await self.fixture.call(session) }
        #expect(error?.errorCode == KiiErrorCode.wrongToken)
        self.cloud.change { $0.issued = 0 }
        try await self.fixture.call(session)
    }

    @Test func withoutATokenAndMeansTheInputIsAtFault() async throws {
        let session = self.fixture.session(hasPassword: false)
        let error = await #expect(throws: KiiInputError.self) { try await session.token() }
        #expect(error?.field == .token)
    }

    // MARK: Storing

    @Test func aTokenThatCannotBeStoredIsUsedAndStoredLater() async throws {
        let session = self.fixture.session()
        self.fixture.storeFails.withLock { $0 = true }
        try await self.fixture.call(session)
        try await self.fixture.call(session)
        self.fixture.storeFails.withLock { $0 = false }
        try await self.fixture.call(session)
        try await self.fixture.call(session)
        let expected = ["store t1", "use t1", "store t1", "use t1", "store t1", "use t1", "use t1"]
        #expect(self.fixture.log.withLock { $0 } == expected)
        #expect(self.cloud.logins == 1)
    }

    @Test func aCopyWithAnotherRetryPolicySharesTheToken() async throws {
        let fixture = SessionFixture()
        let session = fixture.session()
        var copy = session
        copy.client.retry = RetryPolicy(maximumRequests: 2)
        try await fixture.call(copy)
        try await fixture.call(session)
        #expect(fixture.cloud.logins == 1)
    }
}
