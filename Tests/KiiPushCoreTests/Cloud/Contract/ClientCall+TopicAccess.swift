import Contract
import KiiPushCore
import Testing

extension ClientCall {
    static let topicAccess: [ClientCall] = [
        ClientCall(
            id: "topics.acl.list",
            method: "access(to:token:)",
            reply: ["SUBSCRIBE_TO_TOPIC": [["userID": "u1"], ["groupID": "g1"]], "SEND_MESSAGE_TO_TOPIC": []]
        ) { client, variant in
            let access = try await client.access(to: variant.topic, token: testToken)
            #expect(access == TopicAccess([.subscribe: [.user("u1"), .group("g1")], .send: []]))
        },
        ClientCall(
            id: "topics.acl.get",
            method: "isGranted(_:on:to:token:)",
            answers: ["ACL_NOT_FOUND"]
        ) { client, variant in
            let isGranted = try await client.isGranted(
                .subscribe,
                on: variant.topic,
                to: .user("u2"),
                token: testToken
            )
            #expect(isGranted)
        },
        ClientCall(
            id: "topics.acl.grant",
            method: "grant(_:on:to:token:)",
            answers: ["ACL_ALREADY_EXISTS"]
        ) { client, variant in
            let outcome = try await client.grant(.subscribe, on: variant.topic, to: .user("u2"), token: testToken)
            #expect(outcome == .granted)
        },
        ClientCall(
            id: "topics.acl.grant",
            method: "grantStrictly(_:on:to:token:)",
            parameters: ["verb": "SEND_MESSAGE_TO_TOPIC", "subject": "GroupID:g%2F1"]
        ) { client, variant in
            try await client.grantStrictly(.send, on: variant.topic, to: .group("g/1"), token: testToken)
        },
        ClientCall(
            id: "topics.acl.revoke",
            method: "revoke(_:on:from:token:)",
            parameters: ["subject": "UserID:ANY_AUTHENTICATED_USER"]
        ) { client, variant in
            try await client.revoke(.subscribe, on: variant.topic, from: .anyAuthenticatedUser, token: testToken)
        },
    ]
}
