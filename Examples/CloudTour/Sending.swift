import KiiPushCore

func dinnerMessage() -> PushMessage {
    var message = PushMessage(data: ["msg": "Dinner is ready"], mqtt: .init(data: ["table": 4]))
    message.gcm = .init(notification: .init(title: "Dinner"))
    message.gcm?.collapseKey = "dinner"
    message.gcm?.timeToLive = .seconds(3600)
    message.fcm = .init(data: ["table": "4"])
    message.apns = .init(alert: .init(title: "Dinner", body: "is ready"))
    message.apns?.sound = "default"
    message.jpush = .init(data: ["table": 4])
    message.pushMessageType = "dinner"
    message.sendWhen = true
    return message
}

func send(_ message: PushMessage, to topic: Topic, _ client: KiiClient, token: Secret) async throws {
    var tooLarge = message
    tooLarge.apns?.data = ["text": JSONValue(String(repeating: "x", count: 3000))]
    do {
        try await client.send(tooLarge, to: topic, token: token)
    } catch let error as KiiInputError {
        print("nothing was sent:", error)
    }
    var limits = PushMessage.SizeLimits.documented
    limits.jpush = 1024
    let sent = try await client.send(message, to: topic, sizeLimits: limits, token: token)
    print("sent", sent.id)
}

func changeObjects(in bucket: Bucket, _ owner: Principal, _ client: KiiClient, token: Secret) async throws {
    try await client.subscribe(owner, to: .bucket(bucket), token: token)
    let milk = try await client.createObject(["text": "milk"], in: bucket, token: token).reference
    try await client.patchObject(["bought": true], of: milk, token: token)
    try await client.uploadBody(Array("1 litre".utf8), mediaType: "text/plain", of: milk, token: token)
    try await client.deleteObject(milk, token: token)
}

func shareTopic(_ topic: Topic, _ client: KiiClient, token: Secret) async throws {
    try await client.createTopic(topic, token: token)
    try await client.grant(.subscribe, on: topic, to: .anyAuthenticatedUser, token: token)
    let access = try await client.access(to: topic, token: token)
    print("may subscribe:", access[.subscribe].map { "\($0)" }.sorted())
    try await client.revoke(.subscribe, on: topic, from: .anyAuthenticatedUser, token: token)
}
