import KiiPushCore

/// What the emulator tells its administrator about a message: to whom it went, and what was written for them.
struct EmulatedMessage: Sendable {
    /// An installation that receives over MQTT, with its payload.
    struct Delivery: Sendable {
        let installationID: String
        let payload: JSONValue
    }

    let deliveries: [Delivery]

    fileprivate init(_ json: JSONValue) {
        // An MQTT installation may have asked for the payloads of Apple's devices.
        self.deliveries = ["mqtt", "apns"].flatMap { network -> [Delivery] in
            guard let payload = json["renderings"]?[network] else { return [] }
            let ids = json["installations"]?[network]?.array ?? []
            return ids.compactMap(\.string).map { Delivery(installationID: $0, payload: payload) }
        }
    }
}

/// `GET /__kii/messages/{pushMessageID}`.
private struct GetEmulatedMessage: KiiEndpoint {
    let id: String

    var method: HTTPMethod { .get }
    var successStatuses: Set<Int> { [200] }
    var body: KiiBody { .none }

    func path(in app: KiiApp) -> KiiPath {
        .root.appending("messages").appending(self.id, as: KiiInputError.Field(rawValue: "pushMessageID"))
    }

    func decode(_ response: KiiResponse) throws(KiiResponseError) -> EmulatedMessage {
        EmulatedMessage(try response.json())
    }
}

/// `GET /__kii/messages`: the ID of the newest that is about a source; `nil` where there is none.
private struct FindEmulatedMessage: KiiEndpoint {
    let source: String

    var method: HTTPMethod { .get }
    var successStatuses: Set<Int> { [200] }
    var body: KiiBody { .none }
    // All that the emulator keeps.
    var query: [KiiQueryItem] { [KiiQueryItem("limit", "1000")] }

    func path(in app: KiiApp) -> KiiPath { .root.appending("messages") }

    func decode(_ response: KiiResponse) throws(KiiResponseError) -> String? {
        let messages = try response.json()["messages"]?.array ?? []
        return messages.last { $0["source"]?.string == self.source }?["pushMessageID"]?.string
    }
}

extension CloudSession {
    /// How many installations a message went to; `nil` where the cloud is no emulator, or does not say.
    func receiverCount(of sent: SentMessage) async -> Int? {
        guard self.cloud.source == .emulator else { return nil }
        return try? await self.emulatedMessage(sent.id).deliveries.count
    }

    /// What became of a message at the emulator.
    func emulatedMessage(_ id: String) async throws -> EmulatedMessage {
        try await self.controls { client, token in
            try await client.execute(GetEmulatedMessage(id: id), token: token)
        }
    }

    /// What became of the push about a new object; `nil` where there was none, since nobody is subscribed to the bucket.
    func emulatedMessage(about object: ObjectReference) async throws -> EmulatedMessage? {
        let source = KiiURI.object(object).description
        let id = try await self.controls { client, token in
            try await client.execute(FindEmulatedMessage(source: source), token: token)
        }
        guard let id else { return nil }
        return try await self.emulatedMessage(id)
    }

    private func controls<Result: Sendable>(
        _ body: @Sendable (KiiClient, Secret) async throws -> Result
    ) async throws -> Result {
        guard let admin = self.admin else { throw DeliveryWatch.notAnEmulator }
        var app = self.cloud.app
        // The controls are beside the REST API.
        guard app.baseURL.hasSuffix("/api") else { throw DeliveryWatch.notAnEmulator }
        app.baseURL = app.baseURL.dropLast("api".count) + "__kii"
        let client = self.runtime.client(for: app)
        return try await admin.withToken { token in try await body(client, token.token) }
    }
}
