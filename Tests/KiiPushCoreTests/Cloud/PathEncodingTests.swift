import KiiPushCore
import TestSupport
import Testing

@Suite struct PathEncodingTests {
    @Test(arguments: [
        (Scope.user("u 1"), "/apps/a1/users/u%201/topics/n"), (.user("me"), "/apps/a1/users/me/topics/n"),
        (.group("g/1"), "/apps/a1/groups/g%2F1/topics/n"),
        (.thing("VENDOR_THING_ID:v-1"), "/apps/a1/things/VENDOR_THING_ID:v-1/topics/n"),
        (.user("\u{e9}?#%"), "/apps/a1/users/%C3%A9%3F%23%25/topics/n"),
    ])
    func aScopesIDIsEncoded(scope: Scope, path: String) async throws {
        let (requests, _) = await exchange(.status(204)) {
            try await $0.session(testToken).deleteTopic(Topic("n", in: scope))
        }
        #expect(requests.map { $0.url } == ["https://cloud.test/api" + path])
    }

    @Test func bucketsAndRecipientsAreEncoded() async throws {
        let (unsubscription, _) = await exchange(.status(204)) {
            try await $0.session(testToken).unsubscribe(from: .bucket(Bucket("b?1")), as: .user("u#1"))
        }
        #expect(
            unsubscription.map { $0.url } == [
                "https://cloud.test/api/apps/a1/buckets/b%3F1/filters/all/push/subscriptions/users/u%231"
            ]
        )
        let (sending, _) = await exchange(.status(200, #"{"pushMessageID":"p1"}"#)) {
            try await $0.session(testToken).send(PushMessage(data: ["msg": "hi"]), to: .user("u#1"))
        }
        #expect(sending.map { $0.url } == ["https://cloud.test/api/apps/a1/users/u%231/push/messages"])
    }

    @Test(arguments: [
        (AccessSubject.user("u1"), "UserID:u1"), (.group("g/1"), "GroupID:g%2F1"), (.thing("th.1"), "ThingID:th.1"),
        (.anyAuthenticatedUser, "UserID:ANY_AUTHENTICATED_USER"),
    ])
    func subjectsOfRightsAreWrittenWithTheirKind(subject: AccessSubject, segment: String) async throws {
        let (requests, _) = await exchange(.status(204)) {
            try await $0.session(testToken).grant(.send, on: Topic("news"), to: subject)
        }
        let path = "/apps/a1/topics/news/acl/SEND_MESSAGE_TO_TOPIC/" + segment
        #expect(requests.map { $0.url } == ["https://cloud.test/api" + path])
    }
}
