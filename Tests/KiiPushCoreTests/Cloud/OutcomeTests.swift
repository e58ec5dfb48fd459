import KiiPushCore
import TestSupport
import Testing

@Suite struct OutcomeTests {
    private let topic = Topic("news")
    private let user = Principal.user("u1")

    @Test(arguments: [
        HTTPResponse.refusal(409, "TOPIC_ALREADY_EXISTS"), .refusal(409, "SOMETHING_ELSE"), .status(409),
        .status(409, "<html>"),
    ])
    func anyConflictMeansThatTheTopicExists(_ answer: HTTPResponse) async throws {
        let (_, result) = await exchange(answer) { try await $0.session(testToken).createTopic(self.topic) }
        #expect(try result.get() == false)
        let (_, strict) = await exchange(answer) {
            try await $0.session(testToken).createTopic(self.topic, acceptsExisting: false)
        }
        #expect(#expect(throws: KiiError.self) { try strict.get() }?.status == 409)
    }

    @Test(arguments: [
        HTTPResponse.refusal(409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS"), .status(409),
        .refusal(404, "PUSH_SUBSCRIPTION_ALREADY_EXISTS"),  // Kii's guide for buckets
    ])
    func aConflictMeansAlreadySubscribed(_ answer: HTTPResponse) async throws {
        for target in [SubscriptionTarget.topic(self.topic), .bucket(Bucket("b"))] {
            let (_, result) = await exchange(answer) {
                try await $0.session(testToken).subscribe(to: target, as: self.user)
            }
            #expect(try result.get() == false)
            let (_, strict) = await exchange(answer) {
                try await $0.session(testToken).subscribe(to: target, as: self.user, acceptsExisting: false)
            }
            #expect(#expect(throws: KiiError.self) { try strict.get() }?.status == answer.status)
        }
    }

    @Test(arguments: [
        "PUSH_SUBSCRIPTION_NOT_FOUND", "TOPIC_NOT_FOUND", "FILTER_NOT_FOUND", "BUCKET_NOT_FOUND",
    ])
    func aMissingSubscriptionOrTargetMeansNotSubscribed(_ code: String) async throws {
        let (_, result) = await exchange(.refusal(404, code)) {
            try await $0.session(testToken).isSubscribed(to: .topic(self.topic), as: self.user)
        }
        #expect(try result.get() == false)
    }

    @Test func notFoundWithoutABodyIsAnAnswerAndWithAForeignBodyAnError() async throws {
        let (_, exists) = await exchange(.status(404)) { try await $0.session(testToken).topicExists(self.topic) }
        #expect(try exists.get() == false)
        let (_, coded) = await exchange(.refusal(404, "TOPIC_NOT_FOUND")) {
            try await $0.session(testToken).topicExists(self.topic)
        }
        #expect(try coded.get() == false)
        let (_, subscribed) = await exchange(.status(404)) {
            try await $0.session(testToken).isSubscribed(to: .topic(self.topic), as: self.user)
        }
        #expect(try subscribed.get() == false)
        let (_, foreign) = await exchange(.status(404, "<html>no such page</html>")) {
            try await $0.session(testToken).topicExists(self.topic)
        }
        #expect(throws: KiiError.self) { try foreign.get() }
    }

    @Test func allTopicsFollowsThePages() async throws {
        let (requests, result) = await exchange(
            .status(200, #"{"topics":[{"topicID":"a"}],"paginationKey":"1"}"#),
            .status(200, #"{"topics":[],"paginationKey":"2"}"#),
            .status(200, #"{"topics":[{"topicID":"b"}],"paginationKey":""}"#)
        ) { try await $0.session(testToken).topics(in: .user("u1")).all() }
        #expect(try result.get() == [Topic("a", in: .user("u1")), Topic("b", in: .user("u1"))])
        let queries = requests.map { $0.url.split(separator: "?").dropFirst().first.map(String.init) }
        #expect(queries == [nil, "paginationKey=1", "paginationKey=2"])
    }

    @Test func pagesInACircleAreAnError() async throws {
        let (requests, result) = await exchange(
            .status(200, #"{"topics":[],"paginationKey":"1"}"#), .status(200, #"{"topics":[],"paginationKey":"2"}"#),
            .status(200, #"{"topics":[],"paginationKey":"1"}"#)
        ) { try await $0.session(testToken).topics(in: .app).all() }
        let error = #expect(throws: KiiResponseError.self) { try result.get() }
        #expect(error?.rule == .other("leads back to a page that was read already"))
        #expect(error?.pointer == JSONPointer("/paginationKey"))
        #expect(requests.count == 3)
    }

    @Test func aTransportErrorPassesThroughUnchanged() async throws {
        let (_, result) = await exchange { try await $0.session(testToken).createTopic(self.topic) }
        #expect(#expect(throws: TransportError.self) { try result.get() }?.code == .connectionLost)
    }
}
