import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct SessionTests {
    /// A client with an adjustable clock, so that its tokens seem about to expire.
    private struct Subject {
        let emulator: Emulator
        let ahead = Locked(Duration.zero)
        let logins = Locked(0)
        let stored = Locked<[Secret]>([])
        let client: KiiClient

        init(_ emulator: Emulator) throws {
            self.emulator = emulator
            var retry = RetryPolicy()
            retry.firstDelay = .milliseconds(1)
            self.client = KiiClient(
                app: emulator.app, transport: try EventLoop.patient(), timeout: .seconds(600), retry: retry
            ) { [ahead] in
                Timestamp.now() + ahead.withLock { $0 }
            }
        }

        func session() async throws -> KiiSession {
            _ = try await self.client.registerUser(UserRegistration(loginName: "alice", password: "pass word"))
            return KiiSession(client: self.client) { [client, logins] in
                logins.withLock { $0 += 1 }
                return try await client.login(.user(name: "alice", password: "pass word"))
            } changed: { [stored] token in
                stored.withLock { $0.append(token.token) }
            }
        }

        /// Loses the next answer to `method` on `path`: a gateway answers 504, or the connection ends.
        func loseAnswer(_ method: String, _ path: String, withConnection: Bool = false) async throws {
            var fault: [(String, JSONValue)] = [
                ("method", JSONValue(method)), ("path", JSONValue(path)), ("afterwards", true),
            ]
            if !withConnection { fault.append(("status", 504)) }
            try await self.emulator.control("POST", "faults", .object(fault))
        }
    }

    private func withSubject(_ body: @escaping (Subject) async throws -> Void) async throws {
        try await withEmulator { emulator, _ in
            try await emulator.control("PATCH", "app", ["tokenLifetime": 3600])
            try await body(try Subject(emulator))
        }
    }

    @Test func oneRefreshServesAllWhoseTokenIsAboutToEnd() async throws {
        try await self.withSubject { subject in
            let session = try await subject.session()
            let first = try await session.token()
            #expect(first.refreshToken != nil)
            subject.ahead.withLock { $0 = .seconds(3400) }
            let users = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<32 { group.addTask { try await session.user().userID } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(users.count == 1)
            #expect(subject.stored.withLock { $0.count } == 2)
            #expect(subject.logins.withLock { $0 } == 1)
        }
    }

    @Test func aPasswordChangeEndsTheTokenAndTheSessionSignsInAgain() async throws {
        try await self.withSubject { subject in
            let session = try await subject.session()
            let old = try await session.token()
            let admin = try await subject.emulator.adminToken(subject.client)
            // The password stays the same; only the token ends.
            try await subject.client.session(admin).changePassword(from: nil, to: "pass word", of: .loginName("alice"))
            let user = try await session.user()
            #expect(user.loginName == "alice")
            #expect(try await session.token().token != old.token)
            #expect(subject.logins.withLock { $0 } == 2)
        }
    }

    @Test func aRefreshWhoseAnswerIsLostIsNotRepeated() async throws {
        try await self.withSubject { subject in
            let session = try await subject.session()
            _ = try await session.token()
            subject.ahead.withLock { $0 = .seconds(3400) }
            try await subject.loseAnswer("POST", "/api/apps/*/oauth2/token")
            let error = await #expect(throws: KiiError.self) { try await session.user() }
            #expect(error?.status == 504)
            #expect(try await session.user().loginName == "alice")
            #expect(subject.logins.withLock { $0 } == 2)
        }
    }

    @Test(arguments: [false, true])
    func callsWhoseAnswersAreLostAreDoneOnce(withConnection: Bool) async throws {
        try await self.withSubject { subject in
            let client = subject.client
            let admin = try await subject.emulator.adminToken(client)
            let topic = Topic("news")
            try await subject.loseAnswer("PUT", "/api/apps/*/topics/*", withConnection: withConnection)
            #expect(try await client.session(admin).createTopic(topic) == false)
            let path = "/api/apps/*/topics/*/push/messages"
            try await subject.loseAnswer("POST", path, withConnection: withConnection)
            let error = await #expect(throws: (any Error).self) {
                try await client.session(admin).send(PushMessage(data: ["n": 1]), to: .topic(topic))
            }
            if withConnection {
                #expect((error as? TransportError)?.code == .connectionLost)
            } else {
                #expect((error as? KiiError)?.status == 504)
            }
            let messages = try await subject.emulator.control("GET", "messages")
            #expect(messages["messages"]?.array?.count == 1)
            try await subject.loseAnswer("DELETE", "/api/apps/*/topics/*", withConnection: withConnection)
            try await client.session(admin).deleteTopic(topic)
            #expect(try await !client.session(admin).topicExists(topic))
        }
    }

    @Test func aMessageThatTheCloudPutOffIsSentWhenItSays() async throws {
        try await self.withSubject { subject in
            let client = subject.client
            let admin = try await subject.emulator.adminToken(client)
            try await client.session(admin).createTopic(Topic("news"))
            try await subject.emulator.control(
                "POST", "faults",
                [
                    "method": "POST", "path": "/api/apps/*/topics/*/push/messages", "status": 503, "retryAfter": 0,
                    "errorCode": "TEMPORARY_UNAVAILABLE_ERROR",
                ])
            _ = try await client.session(admin).send(PushMessage(data: ["n": 1]), to: .topic(Topic("news")))
            let messages = try await subject.emulator.control("GET", "messages")
            #expect(messages["messages"]?.array?.count == 1)
        }
    }

    @Test func theAppItselfSignsIn() async throws {
        try await self.withSubject { subject in
            let token = try await subject.client.login(.anonymous)
            #expect(token.principal == nil)
            let error = await #expect(throws: KiiError.self) { try await subject.client.session(token.token).user() }
            #expect(error?.status == 401)
        }
    }
}
