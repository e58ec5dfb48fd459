import KiiPushCore

func makeSession(_ client: KiiClient) -> KiiSession {
    KiiSession(
        client: client,
        token: nil,
        signIn: { try await client.login(.user(name: "tourist", password: "not a secret")) },
        changed: { token in print("to be stored: a token that ends", token.expiresAt.map { "\($0)" } ?? "never") }
    )
}

func showLists(_ session: KiiSession, of owner: Principal) async throws {
    for try await topic in session.topics(in: .user("me")) {
        print("topic", topic.id)
    }
    print("installations", try await session.installations(of: owner).all().count)
}

func askPatiently(_ session: KiiSession, _ installationID: String) async throws {
    let policy = RetryPolicy(maximumRequests: 5, budget: .seconds(120), firstDelay: .seconds(1))
    let endpoint = try await session.mqttEndpoint(of: installationID, waiting: policy)
    print("the broker is", endpoint.host)
    var patient = session
    patient.client.retry = policy
    print("asked five times if need be:", try await patient.user().userID)
}

func onboardLamp(owner userID: String, _ session: KiiSession) async throws {
    let lamp = try await session.onboardThing(
        vendorThingID: "lamp-1", password: "of the lamp", owner: .user(userID),
        description: ThingDescription(thingType: "lamp"))
    let lights = Topic("lights", in: .thing(lamp.thingID))
    let own = KiiSession(client: session.client, token: lamp.accessToken)
    try await own.createTopic(lights)
    try await own.subscribe(to: .topic(lights))
    print("the lamp receives at", lamp.mqttEndpoint.host)
}
