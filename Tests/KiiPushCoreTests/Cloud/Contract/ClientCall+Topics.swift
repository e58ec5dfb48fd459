import Contract
import KiiPushCore
import Testing

extension ClientCall {
    static let topics: [ClientCall] = [
        ClientCall(id: "topics.create", method: "createTopic(_:token:)", answers: ["TOPIC_ALREADY_EXISTS"]) {
            client, variant in
            let outcome = try await client.createTopic(variant.topic, token: testToken)
            #expect(outcome == .created)
        },
        ClientCall(id: "topics.create", method: "createTopicStrictly(_:token:)") { client, variant in
            try await client.createTopicStrictly(variant.topic, token: testToken)
        },
        ClientCall(id: "topics.check", method: "topicExists(_:token:)", answers: ["TOPIC_NOT_FOUND"]) {
            client, variant in
            let exists = try await client.topicExists(variant.topic, token: testToken)
            #expect(exists)
        },
        ClientCall(id: "topics.delete", method: "deleteTopic(_:token:)") { client, variant in
            try await client.deleteTopic(variant.topic, token: testToken)
        },
        ClientCall(
            id: "topics.list",
            method: "topicPage(in:paginationKey:token:)",
            query: "?paginationKey=a%2Fb%3D%26",
            reply: ["topics": [["topicID": "a"], ["topicID": "b", "x": 1]], "paginationKey": "p"]
        ) { client, variant in
            let page = try await client.topicPage(in: variant.scope, paginationKey: "a/b=&", token: testToken)
            let topics = [Topic("a", in: variant.scope), Topic("b", in: variant.scope)]
            #expect(page == KiiPage(topics, paginationKey: "p"))
        },
        ClientCall(
            id: "topics.list",
            method: "topics(in:token:)",
            reply: ["topics": [["topicID": "a"]], "paginationKey": .null]
        ) { client, variant in
            let topics = try await client.topics(in: variant.scope, token: testToken).all()
            #expect(topics == [Topic("a", in: variant.scope)])
        },
    ]
}
