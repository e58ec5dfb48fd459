import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let topicAccess: [ClientCall] = [
        ClientCall(
            id: "topics.acl.list",
            method: "access(to:)",
            reply: ["SUBSCRIBE_TO_TOPIC": [["userID": "u1"], ["groupID": "g1"]], "SEND_MESSAGE_TO_TOPIC": []]
        ) { client, variant in
            let access = try await client.session(testToken).access(to: variant.topic)
            #expect(access == [.subscribe: [.user("u1"), .group("g1")], .send: []])
        },
        ClientCall(
            id: "topics.acl.get",
            method: "isGranted(_:on:to:)",
            answers: ["ACL_NOT_FOUND"]
        ) { client, variant in
            let isGranted = try await client.session(testToken).isGranted(
                .subscribe, on: variant.topic, to: .user("u2"))
            #expect(isGranted)
        },
        ClientCall(
            id: "topics.acl.grant",
            method: "grant(_:on:to:acceptsExisting:)",
            answers: ["ACL_ALREADY_EXISTS"]
        ) { client, variant in
            let outcome = try await client.session(testToken).grant(.subscribe, on: variant.topic, to: .user("u2"))
            #expect(outcome == true)
        },
        ClientCall(
            id: "topics.acl.grant",
            method: "grant(_:on:to:acceptsExisting:)",
            parameters: ["verb": "SEND_MESSAGE_TO_TOPIC", "subject": "GroupID:g%2F1"]
        ) { client, variant in
            try await client.session(testToken).grant(
                .send, on: variant.topic, to: .group("g/1"), acceptsExisting: false)
        },
        ClientCall(
            id: "topics.acl.revoke",
            method: "revoke(_:on:from:)",
            parameters: ["subject": "UserID:ANY_AUTHENTICATED_USER"]
        ) { client, variant in
            try await client.session(testToken).revoke(.subscribe, on: variant.topic, from: .anyAuthenticatedUser)
        },
    ]
}
