extension PushMessage {
    /// The size limits of a message for each network, in bytes of JSON as delivered. `nil` disables the check.
    public struct SizeLimits: Sendable, Hashable {
        private let limits: [Network: Int]

        /// Sets the limits in bytes. The defaults are Kii's documented limits. Kii documents none for JPush.
        ///
        /// - Source: Kii's reference of `push/messages`; for MQTT, Kii's guide for things
        public init(mqtt: Int? = 4096, fcm: Int? = 4096, apns: Int? = 2048, jpush: Int? = nil) {
            let limits = [Network.mqtt: mqtt, .fcm: fcm, .apns: apns, .jpush: jpush]
            self.limits = limits.compactMapValues { $0 }
        }

        package subscript(network: Network) -> Int? { self.limits[network] }
    }

    /// The known part of the delivered message in bytes; `nil` if the message does not use the network. The cloud adds
    /// further fields, such as the sender.
    package func knownSize(over network: Network, to destination: PushDestination? = nil) -> Int? {
        guard let part = self.parts.first(where: { $0.network == network }), part.isEnabled else { return nil }
        return self.knownSize(of: part, to: destination)
    }

    func validateSize(of part: Part, to destination: PushDestination?, limits: SizeLimits) throws(KiiInputError) {
        guard let limit = limits[part.network] else { return }
        let size = self.knownSize(of: part, to: destination)
        guard size > limit else { return }
        throw .message(
            at: part.network.rawValue,
            rule: "at most \(limit) bytes over \(part.network), and it has at least \(size) there")
    }

    private func knownSize(of part: Part, to destination: PushDestination?) -> Int {
        let isShort = part.network == .apns
        let fields = self.knownFields(to: destination).map { (isShort ? $0.short : $0.long, $0.value) }
        let members = (self.data?.pairs ?? []) + (part.data?.pairs ?? []) + part.inside + fields
        // The last member with a key counts: a network's data override the message's, and Kii's fields override both.
        // FCM delivers only strings, so a null does not count.
        let payload = JSONValue.object(members.filter { part.network != .fcm || !$0.1.isNull })
        return payload.serialized().count + (part.beside?.serialized().count ?? 0)
    }

    private typealias KnownField = (long: String, short: String, value: JSONValue)

    private func knownFields(to destination: PushDestination?) -> [KnownField] {
        var fields: [KnownField] = []
        if let type = self.pushMessageType { fields.append(("type", "t", JSONValue(type))) }
        if self.sendOrigin == true { fields.append(("origin", "o", "EXPLICIT")) }
        // A time in milliseconds has 13 digits until the year 2286.
        if self.sendWhen == true { fields.append(("when", "w", 1_000_000_000_000)) }
        guard case .topic(let topic) = destination else { return fields }
        if self.sendTopicID != false { fields.append(("topic", "to", JSONValue(topic.id))) }
        if self.sendObjectScope != false { fields += Self.scopeFields(topic.scope) }
        return fields
    }

    private static func scopeFields(_ scope: Scope) -> [KnownField] {
        switch scope {
        case .app: [("objectScopeType", "st", "APP")]
        case .user(let id):
            [("objectScopeType", "st", "APP_AND_USER"), ("objectScopeUserID", "su", Self.lastingID(id))]
        case .group(let id):
            [("objectScopeType", "st", "APP_AND_GROUP"), ("objectScopeGroupID", "sg", Self.lastingID(id))]
        case .thing(let id):
            [("objectScopeType", "st", "APP_AND_THING"), ("objectScopeThingID", "sth", Self.lastingID(id))]
        }
    }

    /// The ID as delivered. Empty for `me` and for an address such as `VENDOR_THING_ID:…`: the cloud delivers another
    /// ID, which the library does not know.
    private static func lastingID(_ id: String) -> JSONValue {
        id == "me" || id.utf8.contains(UInt8(ascii: ":")) ? "" : JSONValue(id)
    }
}
