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

extension CloudSession {
    /// How many installations a message went to; `nil` where the cloud is no emulator, or does not say.
    func receiverCount(of messageID: String) async -> Int? {
        guard self.cloud.source == .emulator else { return nil }
        return try? await self.emulatedMessage(messageID).deliveries.count
    }

    /// What became of a message at the emulator: `GET /__kii/messages/{pushMessageID}`.
    func emulatedMessage(_ id: String) async throws -> EmulatedMessage {
        let path = KiiPath("messages").appending(id, as: .pushMessageID)
        return try await self.control(
            KiiCall(.get, path, statuses: [200]) { response throws(KiiResponseError) in
                EmulatedMessage(try response.json())
            })
    }

    /// What became of the push about a new object; `nil` where there was none, since nobody is subscribed to the bucket.
    ///
    /// `GET /__kii/messages`, of which the newest that is about the object.
    func emulatedMessage(about object: ObjectReference) async throws -> EmulatedMessage? {
        let source = KiiURI.object(object).description
        let call = KiiCall(.get, KiiPath("messages"), statuses: [200]) { response throws(KiiResponseError) in
            let messages = try response.json()["messages"]?.array ?? []
            return messages.last { $0["source"]?.string == source }?["pushMessageID"]?.string
        }
        // All that the emulator keeps.
        guard let id = try await self.control(call.with { $0.query = [("limit", "1000")] }) else { return nil }
        return try await self.emulatedMessage(id)
    }

    /// The controls are beside the REST API.
    private func control<Answer>(_ call: KiiCall<Answer>) async throws -> Answer {
        var app = self.cloud.app
        guard let admin = self.admin, app.baseURL.hasSuffix("/api") else { throw DeliveryWatch.notAnEmulator }
        app.baseURL = app.baseURL.dropLast("api".count) + "__kii"
        let client = self.runtime.client(for: app)
        return try await admin.withToken { token in
            try await client.perform(call.with { $0.isOfApp = false }, token: token.token)
        }
    }
}
