import Contract
import KiiPushCore
import Testing

extension ClientCall {
    static let messages: [ClientCall] = [
        ClientCall(id: "messages.sendToTopic", method: "send(_:to:sizeLimits:token:)") { client, variant in
            let sent = try await client.send(PushMessage(data: ["msg": "hi"]), to: variant.topic, token: testToken)
            #expect(sent.id == "p1")
        },
        ClientCall(id: "messages.sendToUser", method: "send(_:toUser:sizeLimits:token:)") { client, _ in
            let sent = try await client.send(PushMessage(data: ["msg": "hi"]), toUser: "u1", token: testToken)
            #expect(sent.id == "p1")
        },
    ]
}
