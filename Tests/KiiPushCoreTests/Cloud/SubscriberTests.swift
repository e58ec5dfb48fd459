import KiiPushCore
import TestSupport
import Testing

@Suite struct SubscriberTests {
    private let news = SubscriptionTarget.topic(Topic("news"))
    private let subscriptions = "https://cloud.test/api/apps/a1/topics/news/push/subscriptions/"

    @Test(arguments: [(Principal.user("u1"), "users/u1"), (.thing("th.1"), "things/th.1")])
    func itIsWhomTheTokenBelongsTo(_ principal: Principal, path: String) async throws {
        let transport = FakeTransport(.status(204), .status(204), .status(204))
        let session = KiiSession(
            client: KiiClient(transport), token: AccessToken(principal: principal, token: testToken))
        #expect(try await session.subscribe(to: self.news))
        #expect(try await session.isSubscribed(to: self.news))
        try await session.unsubscribe(from: self.news)
        #expect(transport.requests.map(\.method) == ["PUT", "GET", "DELETE"])
        #expect(Set(transport.requests.map(\.url)) == [self.subscriptions + path])
    }

    @Test func itIsWhomTheNextTokenBelongsToWhenTheFirstIsRefused() async throws {
        let transport = FakeTransport(
            .refusal(403, "WRONG_TOKEN"), .status(200, #"{"id":"u2","access_token":"t2"}"#), .status(204))
        let client = KiiClient(transport)
        let session = KiiSession(client: client, token: AccessToken(principal: .user("u1"), token: "t1")) {
            try await client.login(.user(name: "alice", password: "pw"))
        }
        #expect(try await session.subscribe(to: self.news))
        #expect(transport.requests.map(\.url).first == self.subscriptions + "users/u1")
        #expect(transport.requests.map(\.url).last == self.subscriptions + "users/u2")
    }

    @Test func anAdministratorNamesTheSubscriber() async throws {
        let (requests, result) = await exchange(.status(204)) {
            try await $0.session(testToken).subscribe(to: self.news)
        }
        #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == .userID)
        #expect(requests.isEmpty)
    }
}
