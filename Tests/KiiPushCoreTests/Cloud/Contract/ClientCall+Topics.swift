import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let topics: [ClientCall] = [
        ClientCall(id: "topics.create", method: "createTopic(_:acceptsExisting:)", answers: ["TOPIC_ALREADY_EXISTS"]) {
            client, variant in
            let outcome = try await client.session(testToken).createTopic(variant.topic)
            #expect(outcome == true)
        },
        ClientCall(id: "topics.create", method: "createTopic(_:acceptsExisting:)") { client, variant in
            try await client.session(testToken).createTopic(variant.topic, acceptsExisting: false)
        },
        ClientCall(id: "topics.check", method: "topicExists(_:)", answers: ["TOPIC_NOT_FOUND"]) {
            client, variant in
            let exists = try await client.session(testToken).topicExists(variant.topic)
            #expect(exists)
        },
        ClientCall(id: "topics.delete", method: "deleteTopic(_:)") { client, variant in
            try await client.session(testToken).deleteTopic(variant.topic)
        },
        ClientCall(
            id: "topics.list",
            method: "topics(in:)",
            reply: ["topics": [["topicID": "a"]], "paginationKey": .null]
        ) { client, variant in
            let topics = try await client.session(testToken).topics(in: variant.scope).all()
            #expect(topics == [Topic("a", in: variant.scope)])
        },
    ]
}
