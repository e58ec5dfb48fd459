import KiiPushCore

func sendMessage(_ text: String, to topic: Topic, as session: KiiSession) async throws {
    // KiiAPNSFields: createFields, setAlertBody:, setBadge:, setCategory:, setSpecificData:
    var apns = PushMessage.APNS(data: ["by": "porter"], alert: .init(body: text))
    apns.badge = 1
    apns.category = "invitation"
    // KiiPushMessage: composeMessageWithAPNSFields:andGCMFields:. Programs on Linux get `data`, over MQTT.
    var message = PushMessage(data: ["msg": JSONValue(text)])
    message.apns = apns
    try await session.send(message, to: .topic(topic))
}

func fetchObject(of message: ReceivedMessage, as session: KiiSession) async throws -> JSONValue? {
    // eventSourceObject and refreshSynchronous:
    guard let object = message.sourceObject else { return nil }
    return try await session.object(object)
}
