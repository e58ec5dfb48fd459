import KiiPushCore
import TestSupport
import Testing

@Suite struct KiiListTests {
    private func page(_ ids: [String], next: String? = nil) -> HTTPResponse {
        let topics = ids.map { #"{"topicID":"\#($0)"}"# }.joined(separator: ",")
        return .status(200, #"{"topics":[\#(topics)]\#(next.map { #","paginationKey":"\#($0)""# } ?? "")}"#)
    }

    @Test func nothingIsAskedBeforeItIsLookedAt() async throws {
        let transport = FakeTransport(self.page(["a", "b"], next: "1"), self.page(["c"]))
        let list = KiiClient(transport).session(testToken).topics(in: .app)
        #expect(transport.requests.isEmpty)
        var iterator = list.makeAsyncIterator()
        #expect(try await iterator.next()?.id == "a")
        #expect(try await iterator.next()?.id == "b")
        #expect(transport.requests.count == 1)
        #expect(try await iterator.next()?.id == "c")
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(transport.requests.count == 2)
    }

    @Test func everyLoopBeginsAnew() async throws {
        let transport = FakeTransport(self.page(["a"]), self.page(["b"]))
        let list = KiiClient(transport).session(testToken).topics(in: .app)
        #expect(try await list.all().map(\.id) == ["a"])
        #expect(try await list.all().map(\.id) == ["b"])
    }

    @Test func pagesInACircleEndAfterWhatTheyHeld() async throws {
        let transport = FakeTransport(self.page(["a"], next: "1"), self.page(["b"], next: "1"), self.page(["c"]))
        var iterator = KiiClient(transport).session(testToken).topics(in: .user("u1")).makeAsyncIterator()
        #expect(try await iterator.next()?.id == "a")
        do {
            _ = try await iterator.next()
            Issue.record("the circle was not noticed")
        } catch let error as KiiResponseError {
            #expect(error.operation == KiiOperation(method: .get, path: "/apps/a1/users/u1/topics"))
            #expect("\(error)".contains("leads back to a page"))
        }
        #expect(try await iterator.next() == nil)
        #expect(transport.requests.count == 2)
    }

    @Test func anErrorEndsTheList() async throws {
        let transport = FakeTransport(self.page(["a"], next: "1"), .refusal(401, "UNAUTHORIZED"), self.page(["b"]))
        var iterator = KiiClient(transport).session(testToken).topics(in: .app).makeAsyncIterator()
        _ = try await iterator.next()
        do {
            _ = try await iterator.next()
            Issue.record("the refusal was not noticed")
        } catch is KiiError {}
        #expect(try await iterator.next() == nil)
    }

    @Test func cancellationEndsTheListBetweenPages() async throws {
        let transport = FakeTransport(self.page(["a"], next: "1"), self.page(["b"]))
        let list = KiiClient(transport).session(testToken).topics(in: .app)
        let task = Task {
            for try await _ in list { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test func theInstallationsOfAnOwnerAreFollowedToTheEnd() async throws {
        let transport = FakeTransport(
            .status(200, #"{"installations":[{"installationID":"i1"}],"paginationKey":"a/b=&"}"#),
            .status(200, #"{"installations":[{"installationID":"i2"}],"paginationKey":null}"#))
        let list = KiiClient(transport).session(testToken).installations(of: .user("u1"))
        #expect(try await list.all().map(\.id) == ["i1", "i2"])
        let targets = transport.requests.map { $0.url.split(separator: "?").last.map(String.init) }
        #expect(targets == ["userID=u1", "userID=u1&paginationKey=a%2Fb%3D%26"])
    }

    @Test func aSessionsListTakesAnotherTokenBetweenPages() async throws {
        let transport = FakeTransport(
            self.page(["a"], next: "1"), .refusal(403, "WRONG_TOKEN"),
            .status(200, #"{"id":"u1","access_token":"t2"}"#), self.page(["b"]))
        let client = KiiClient(transport)
        let session = KiiSession(client: client, token: AccessToken(principal: alice, token: "t1")) {
            try await client.login(.user(name: "alice", password: "pw"))
        }
        #expect(try await session.topics(in: .app).all().map(\.id) == ["a", "b"])
        let bearers = transport.requests.compactMap { request in
            request.fields.first { $0.name == "Authorization" && $0.value.hasPrefix("Bearer") }?.value
        }
        #expect(bearers == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }
}
