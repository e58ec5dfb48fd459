import KiiPushCore

func setUpByHand(_ client: KiiClient, name: String, password: Secret) async throws -> MQTTEndpoint {
    let token = try await client.login(.user(name: name, password: password))
    let session = KiiSession(client: client, token: token)
    let installation = try await session.createInstallation()
    // The cloud needs a moment to make the endpoint.
    let patience = RetryPolicy(maximumRequests: 10, budget: .seconds(60), firstDelay: .seconds(1))
    let endpoint = try await session.mqttEndpoint(of: installation.id, waiting: patience)
    let topic = Topic("dinner", in: .user("me"))
    try await session.createTopic(topic)
    try await session.subscribe(to: .topic(topic))
    return endpoint
}

func register(_ agent: PushAgent) async throws -> Registration {
    let registration = try await agent.register()
    print("instead of a device token:", registration.installationID)
    return registration
}
