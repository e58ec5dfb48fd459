import KiiPushCore
import Testing

private let subjects: [(AccessSubject, String)] = [
    (.user("u1"), "UserID:u1"), (.group("g/1"), "GroupID:g%2F1"), (.thing("th.1"), "ThingID:th.1"),
    (.anyAuthenticatedUser, "UserID:ANY_AUTHENTICATED_USER"),
]

let topicAccessCalls: [EndpointRow] =
    topicPaths.map { scope, path in
        EndpointRow(
            name: "read the access to a topic in \(scope)", method: "GET", target: path + "/news/acl",
            authorization: bearerField, successes: [200],
            reply: #"{"SUBSCRIBE_TO_TOPIC":[{"userID":"u1"},{"groupID":"g1"}],"SEND_MESSAGE_TO_TOPIC":[]}"#,
            refusals: [(404, "TOPIC_NOT_FOUND"), (404, "USER_NOT_FOUND")]
        ) { client in
            let access = try await client.access(to: Topic("news", in: scope), token: testToken)
            #expect(access == TopicAccess([.subscribe: [.user("u1"), .group("g1")], .send: []]))
        }
    }
    + subjects.flatMap { subject, segment -> [EndpointRow] in
        let topic = Topic("news", in: .user("u1"))
        let path = "/apps/a1/users/u1/topics/news/acl/"
        let absent = [(404, "TOPIC_NOT_FOUND"), (404, "USER_NOT_FOUND"), (404, "THING_NOT_FOUND")]
        return [
            EndpointRow(
                name: "check the access of \(subject)", method: "GET", target: path + "SUBSCRIBE_TO_TOPIC/" + segment,
                authorization: bearerField, successes: [200, 204], reply: #"{"userID":"u1"}"#, refusals: absent
            ) { client in
                let answer = try await client.isGranted(.subscribe, on: topic, to: subject, token: testToken)
                #expect(answer)
            },
            EndpointRow(
                name: "grant access to \(subject)", method: "PUT", target: path + "SEND_MESSAGE_TO_TOPIC/" + segment,
                authorization: bearerField, body: "", successes: [200, 201, 204], reply: "", refusals: absent
            ) { client in
                let outcome = try await client.grant(.send, on: topic, to: subject, token: testToken)
                #expect(outcome == .granted)
            },
            EndpointRow(
                name: "grant access strictly to \(subject)", method: "PUT",
                target: path + "SUBSCRIBE_TO_TOPIC/" + segment, authorization: bearerField, body: "",
                successes: [200, 201, 204], reply: "", refusals: absent + [(409, "ACL_ALREADY_EXISTS")]
            ) { client in try await client.grantStrictly(.subscribe, on: topic, to: subject, token: testToken) },
            EndpointRow(
                name: "revoke access from \(subject)", method: "DELETE",
                target: path + "SEND_MESSAGE_TO_TOPIC/" + segment, authorization: bearerField, successes: [200, 204],
                reply: "", refusals: absent + [(404, "ACL_NOT_FOUND")]
            ) { client in try await client.revoke(.send, on: topic, from: subject, token: testToken) },
        ]
    }
