import KiiPushCore

func dinnerMessage() -> PushMessage {
    var message = PushMessage(data: ["msg": "Dinner is ready"], mqtt: .init(data: ["table": 4]))
    message.fcm = .init(data: ["table": "4"], notification: .init(title: "Dinner"))
    message.fcm?.collapseKey = "dinner"
    message.fcm?.timeToLive = .seconds(3600)
    message.apns = .init(alert: .init(title: "Dinner", body: "is ready"))
    message.apns?.sound = "default"
    message.jpush = .init(data: ["table": 4])
    message.pushMessageType = "dinner"
    message.sendWhen = true
    return message
}

func send(_ message: PushMessage, to topic: Topic, _ session: KiiSession) async throws {
    var tooLarge = message
    tooLarge.apns?.data = ["text": JSONValue(String(repeating: "x", count: 3000))]
    do {
        try await session.send(tooLarge, to: .topic(topic))
    } catch let error as KiiInputError {
        print("nothing was sent:", error)
    }
    print("sent", try await session.send(message, to: .topic(topic), sizeLimits: .init(apns: 4096)))
}

func changeObjects(in bucket: Bucket, _ session: KiiSession) async throws {
    try await session.subscribe(to: .bucket(bucket))
    let milk = try await session.createObject(["text": "milk"], in: bucket).reference
    try await session.patchObject(["bought": true], of: milk)
    try await session.uploadBody(Array("1 litre".utf8), mediaType: "text/plain", of: milk)
    try await session.deleteObject(milk)
}

func shareTopic(_ topic: Topic, _ session: KiiSession) async throws {
    try await session.createTopic(topic)
    try await session.grant(.subscribe, on: topic, to: .anyAuthenticatedUser)
    let access = try await session.access(to: topic)
    print("may subscribe:", (access[.subscribe] ?? []).map { "\($0)" }.sorted())
    try await session.revoke(.subscribe, on: topic, from: .anyAuthenticatedUser)
}
