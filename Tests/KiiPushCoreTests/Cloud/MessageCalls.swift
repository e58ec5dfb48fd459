import KiiPushCore
import Testing

let messageCalls: [EndpointRow] =
    topicPaths.map { scope, path in
        EndpointRow(
            name: "send to a topic in \(scope)", method: "POST", target: path + "/news/push/messages",
            authorization: bearerField, mediaType: vendorPrefix + "SendPushMessageRequest+json",
            body: #"{"data":{"msg":"hi"},"mqtt":{"enabled":true}}"#, successes: [200, 201, 202],
            reply: #"{"pushMessageID":"p1"}"#, refusals: [(404, "TOPIC_NOT_FOUND"), (400, "INVALID_INPUT_DATA")]
        ) { client in
            let message = PushMessage(data: ["msg": "hi"])
            let answer = try await client.send(message, to: Topic("news", in: scope), token: testToken).id
            #expect(answer == "p1")
        }
    } + [
        EndpointRow(
            name: "send to a user", method: "POST", target: "/apps/a1/users/u%231/push/messages",
            authorization: bearerField, mediaType: vendorPrefix + "SendPushMessageRequest+json",
            body: #"{"data":{"msg":"hi"},"mqtt":{"enabled":true}}"#, successes: [200, 201, 202],
            reply: #"{"pushMessageID":"p1"}"#, refusals: [(404, "USER_NOT_FOUND")]
        ) { client in
            let answer = try await client.send(PushMessage(data: ["msg": "hi"]), toUser: "u#1", token: testToken).id
            #expect(answer == "p1")
        }
    ]
