import KiiPushCore

func setUpByHand(_ client: KiiClient, name: String, password: Secret) async throws -> MQTTEndpoint {
    let token = try await client.login(username: name, password: password).token
    let installation = try await client.createInstallation(token: token)
    let endpoint = try await client.mqttEndpoint(
        of: installation.id, token: token, waiting: .endpoint)
    let topic = Topic("dinner", in: .user("me"))
    try await client.createTopic(topic, token: token)
    try await client.subscribeSelf(as: .user, to: .topic(topic), token: token)
    return endpoint
}

func register(_ agent: PushAgent) async throws -> Registration {
    let registration = try await agent.register()
    print("instead of a device token:", registration.installationID)
    return registration
}
