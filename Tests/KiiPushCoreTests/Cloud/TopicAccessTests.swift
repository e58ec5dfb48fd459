import KiiPushCore
import TestSupport
import Testing

@Suite struct TopicAccessTests {
    private let topic = Topic("news")

    @Test func everyFormOfASubjectIsRead() async throws {
        let reply = """
            {"SUBSCRIBE_TO_TOPIC":[{"userID":"ANY_AUTHENTICATED_USER"},{"thingID":"th.1"},{"userID":null,"groupID":"g"}],\
            "SEND_MESSAGE_TO_TOPIC":["UserID:u1","GroupID:g1","ThingID:a:b","UserID:ANONYMOUS_USER"],\
            "SOMETHING_ELSE":[{"userID":"ANONYMOUS_USER"}],"NOTHING":null}
            """
        let (_, result) = await exchange(.status(200, reply)) { try await $0.session(testToken).access(to: self.topic) }
        let access = try result.get()
        #expect(access[.subscribe] == [.anyAuthenticatedUser, .thing("th.1"), .group("g")])
        #expect(access[.send] == [.user("u1"), .group("g1"), .thing("a:b"), .anonymousUser])
        #expect(access.count == 2)
    }

    @Test(arguments: [
        ReplyRow("[]", "", .kind(.object)),
        ReplyRow(#"{"V":{}}"#, "/V", .kind(.array)), ReplyRow(#"{"V":"UserID:u"}"#, "/V", .kind(.array)),
        ReplyRow(#"{"V":[1]}"#, "/V/0", .kind(.object)),
        ReplyRow(#"{"V":["UserID:u","u"]}"#, "/V/1", .kind(.object)),
        ReplyRow(#"{"V":["UserID:"]}"#, "/V/0", .kind(.object)),
        ReplyRow(#"{"V":["userID:u"]}"#, "/V/0", .kind(.object)),
        ReplyRow(#"{"V":[{}]}"#, "/V/0/userID", .missing),
        ReplyRow(#"{"V":[{"userID":""}]}"#, "/V/0/userID", .empty),
        ReplyRow(#"{"V":[{"userID":7}]}"#, "/V/0/userID", .noText),
        ReplyRow(#"{"V":[{"groupID":[]}]}"#, "/V/0/groupID", .noText),
    ])
    func aBadListIsNamedByItsPlace(_ row: ReplyRow) async throws {
        let (_, result) = await exchange(.status(200, row.reply)) {
            try await $0.session(testToken).access(to: self.topic)
        }
        let error = #expect(throws: KiiResponseError.self) { try result.get() }
        #expect(error?.pointer == JSONPointer(row.pointer))
        #expect(error?.rule == row.rule)
    }

    @Test func anEntryThatIsNotThereIsAnAnswer() async throws {
        for answer in [HTTPResponse.refusal(404, "ACL_NOT_FOUND"), .status(404)] {
            let (_, result) = await exchange(answer) {
                try await $0.session(testToken).isGranted(.send, on: self.topic, to: .anyAuthenticatedUser)
            }
            #expect(try result.get() == false)
        }
        let (_, foreign) = await exchange(.status(404, "<html>")) {
            try await $0.session(testToken).isGranted(.send, on: self.topic, to: .anyAuthenticatedUser)
        }
        #expect(throws: KiiError.self) { try foreign.get() }
    }

    @Test(arguments: [HTTPResponse.refusal(409, "ACL_ALREADY_EXISTS"), .status(409)])
    func aConflictMeansAlreadyGranted(_ answer: HTTPResponse) async throws {
        let (_, result) = await exchange(answer) {
            try await $0.session(testToken).grant(.send, on: self.topic, to: .user("u"))
        }
        #expect(try result.get() == false)
        let (_, strict) = await exchange(answer) {
            try await $0.session(testToken).grant(.send, on: self.topic, to: .user("u"), acceptsExisting: false)
        }
        #expect(#expect(throws: KiiError.self) { try strict.get() }?.status == 409)
    }

    @Test(
        arguments: [
            (.user(""), .send, Topic("t"), .userID), (.group(""), .send, Topic("t"), .groupID),
            (.thing(""), .send, Topic("t"), .thingID), (.user("u"), .send, Topic("a b"), .topicID),
        ] as [(AccessSubject, TopicVerb, Topic, KiiInputError.Field)])
    func badInputIsRefusedBeforeAnythingIsSent(
        subject: AccessSubject, verb: TopicVerb, topic: Topic, field: KiiInputError.Field
    ) async throws {
        let calls: [@Sendable (KiiClient) async throws -> Void] = [
            { _ = try await $0.session(testToken).isGranted(verb, on: topic, to: subject) },
            { try await $0.session(testToken).grant(verb, on: topic, to: subject) },
            { try await $0.session(testToken).grant(verb, on: topic, to: subject, acceptsExisting: false) },
            { try await $0.session(testToken).revoke(verb, on: topic, from: subject) },
        ]
        for call in calls {
            let (requests, result) = await exchange(.status(200, "{}"), body: call)
            #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == field)
            #expect(requests.isEmpty)
        }
    }

    @Test func anonymousUsersAreGrantedNothing() async throws {
        let (requests, result) = await exchange(.status(204)) {
            try await $0.session(testToken).grant(.subscribe, on: self.topic, to: .anonymousUser)
        }
        #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == .accessSubject)
        #expect(requests.isEmpty)
        let (revocations, revoked) = await exchange(.status(204)) {
            try await $0.session(testToken).revoke(.subscribe, on: self.topic, from: .anonymousUser)
        }
        #expect(throws: Never.self) { try revoked.get() }
        #expect(revocations.first?.url.hasSuffix("/acl/SUBSCRIBE_TO_TOPIC/UserID:ANONYMOUS_USER") == true)
    }

    @Test func theListOfABadTopicIsRefusedBeforeAnythingIsSent() async throws {
        let (requests, result) = await exchange(.status(200, "{}")) {
            try await $0.session(testToken).access(to: Topic("a b"))
        }
        #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == .topicID)
        #expect(requests.isEmpty)
    }
}
