import KiiPushCore

func makeSession(_ client: KiiClient) -> KiiSession {
    KiiSession(
        client: client,
        token: nil,
        signIn: { try await client.login(username: "tourist", password: "not a secret") },
        changed: { token in print("to be stored: a token that ends", token.expiresAt.map { "\($0)" } ?? "never") }
    )
}

func showLists(_ session: KiiSession) async throws {
    for try await topic in KiiList(ListTopics(in: .user("me")), session: session) {
        print("topic", topic.id)
    }
    let installations = try await session.withToken { token in
        try await session.client.installations(of: token.principal, token: token.token).all()
    }
    print("installations", installations.count)
}

func askPatiently(_ client: KiiClient, _ installationID: String, token: Secret) async throws {
    var patient = client
    patient.retry = RetryPolicy(maximumRequests: 5, budget: .seconds(120), firstDelay: .seconds(1))
    let endpoint = try await patient.mqttEndpoint(of: installationID, token: token, waiting: .endpoint)
    print("the broker is", endpoint.host)
    var hasty = client
    hasty.retry = .none
    print("asked once:", try await hasty.user(token: token).userID)
}

func onboardLamp(owner userID: String, _ client: KiiClient, token: Secret) async throws {
    let lamp = try await client.onboardThing(
        vendorThingID: "lamp-1", password: "of the lamp", owner: .user(userID),
        description: ThingDescription(thingType: "lamp"), token: token)
    let lights = Topic("lights", in: .thing(lamp.thingID))
    try await client.createTopic(lights, token: lamp.accessToken.token)
    try await client.subscribeSelf(as: .thing, to: .topic(lights), token: lamp.accessToken.token)
    print("the lamp receives at", lamp.mqttEndpoint.host)
}
