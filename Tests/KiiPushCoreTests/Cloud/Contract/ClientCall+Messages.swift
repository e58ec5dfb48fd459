import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let messages: [ClientCall] = [
        ClientCall(id: "messages.sendToTopic", method: "send(_:to:sizeLimits:)") { client, variant in
            let sent = try await client.session(testToken).send(
                PushMessage(data: ["msg": "hi"]), to: .topic(variant.topic))
            #expect(sent == "p1")
        },
        ClientCall(id: "messages.sendToUser", method: "send(_:to:sizeLimits:)") { client, _ in
            let sent = try await client.session(testToken).send(PushMessage(data: ["msg": "hi"]), to: .user("u1"))
            #expect(sent == "p1")
        },
    ]
}
