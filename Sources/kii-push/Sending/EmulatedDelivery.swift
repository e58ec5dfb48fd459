import KiiPushCommandLine
import KiiPushCore

/// A message that the emulator sent to an installation over MQTT.
struct EmulatedDelivery: Sendable {
    let installationID: String
    let payload: JSONValue

    fileprivate static func all(in json: JSONValue) -> [EmulatedDelivery] {
        // Installations with Apple's payloads receive over MQTT too.
        ["mqtt", "apns"].flatMap { network -> [EmulatedDelivery] in
            guard let payload = json["renderings"]?[network] else { return [] }
            let ids = json["installations"]?[network]?.array ?? []
            return ids.compactMap(\.string).map { EmulatedDelivery(installationID: $0, payload: payload) }
        }
    }
}

extension CloudSession {
    /// The number of installations that the emulator sent the message to over MQTT; `nil` if unknown.
    func receiverCount(of messageID: String) async -> Int? {
        guard self.cloud.source == .emulator else { return nil }
        return try? await self.deliveries(of: messageID).count
    }

    /// The address of a message on the emulator's web page; `nil` for other clouds.
    func inspectorURL(of messageID: String) -> String? {
        let base = self.cloud.app.baseURL
        guard self.cloud.source == .emulator, base.hasSuffix("/api") else { return nil }
        // The emulator's message IDs need no escaping: they have only letters, digits and dashes.
        return base.dropLast("api".count) + "__kii/ui#message/" + messageID
    }

    func deliveries(of messageID: String) async throws -> [EmulatedDelivery] {
        let path = KiiPath("messages").appending(messageID, as: .pushMessageID)
        return try await self.control(
            KiiCall(.get, path, statuses: [200]) { response throws(KiiResponseError) in
                EmulatedDelivery.all(in: try response.json())
            })
    }

    /// The deliveries of the newest message about a new object; empty if the bucket has no subscriptions.
    func deliveries(about object: ObjectReference) async throws -> [EmulatedDelivery] {
        let source = KiiURI.object(object).description
        let call = KiiCall(.get, KiiPath("messages"), statuses: [200]) { response throws(KiiResponseError) in
            let messages = try response.json()["messages"]?.array ?? []
            return messages.last { $0["source"]?.string == source }?["pushMessageID"]?.string
        }
        // The emulator keeps at most 1000 messages.
        guard let id = try await self.control(call.with { $0.query = [("limit", "1000")] }) else { return [] }
        return try await self.deliveries(of: id)
    }

    /// Calls a control function of the emulator, which is no part of Kii's REST API.
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
