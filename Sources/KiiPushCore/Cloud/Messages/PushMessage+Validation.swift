extension PushMessage {
    /// Checks Kii's rules. The cloud adds fields before it measures, so it may refuse a message just below a size
    /// limit.
    package func validate(
        sizeLimits: SizeLimits = .init(), to destination: PushDestination? = nil
    ) throws(KiiInputError) {
        let parts = self.parts
        guard parts.contains(where: \.isEnabled) else { throw .message(rule: "for at least one enabled network") }
        try PushMessage.validate(self.data, at: "data", over: nil)
        for part in parts { try part.validate(common: self.data) }
        try self.fcm?.validateTimeToLive()
        for part in parts where part.isEnabled {
            try self.validateSize(of: part, to: destination, limits: sizeLimits)
        }
    }

    fileprivate static func validate(
        _ data: JSONValue?, at place: String..., over network: Network?
    ) throws(KiiInputError) {
        guard let data else { return }
        let pointer = JSONPointer(tokens: place)
        guard let members = data.members else { throw KiiInputError(.message, at: pointer, rule: "a JSON object") }
        for member in members {
            guard let rule = Self.rule(against: member.value.kind, over: network) else { continue }
            throw KiiInputError(.message, at: pointer.appending(member.key), rule: rule)
        }
    }

    /// The rule that a value breaks; `nil` if the network allows this kind of value.
    ///
    /// - Source: Kii's reference of `push/messages`
    private static func rule(against kind: JSONValue.Kind, over network: Network?) -> String? {
        switch (network, kind) {
        case (_, .object), (_, .array): "a string, number or Boolean, since data is flat"
        case (_, .string), (nil, _), (.mqtt, _): nil
        case (.fcm, _): "a string"
        case (.apns, .null), (.jpush, .null): "a string, number or Boolean, not null"
        case (.apns, _), (.jpush, _): nil
        }
    }
}

extension PushMessage.AndroidPart {
    fileprivate func validateTimeToLive() throws(KiiInputError) {
        guard let timeToLive = self.timeToLive else { return }
        guard timeToLive >= .zero else { throw .message(at: "fcm", "timeToLive", rule: "0 s or longer") }
        guard self.collapseKey != nil else {
            throw .message(at: "fcm", "collapseKey", rule: "present with timeToLive")
        }
    }
}

extension PushMessage.Part {
    fileprivate func validate(common: JSONValue?) throws(KiiInputError) {
        let name = self.network.rawValue
        try PushMessage.validate(self.data, at: name, "data", over: self.network)
        guard self.isEnabled else { return }
        // Kii requires common data "if some enabled network has none of its own". The cloud decides whether a
        // notification counts as data.
        guard common != nil || self.data != nil || self.worksWithoutData else {
            throw .message(at: "data", rule: "present when \(name) has no data")
        }
        for key in (common?.members ?? []).map(\.key) where self.network.reserves(key) {
            throw .message(at: "data", key, rule: "under a key that FCM does not reserve")
        }
        for key in (self.data?.members ?? []).map(\.key) where self.network.reserves(key) {
            throw .message(at: name, "data", key, rule: "under a key that FCM does not reserve")
        }
    }
}

extension PushMessage.Network {
    /// - Source: Kii's reference of `push/messages`. Kii's SDKs refuse every key that begins with `google`.
    fileprivate func reserves(_ key: String) -> Bool {
        guard self == .fcm else { return false }
        return key.hasPrefix("google.") || key.hasPrefix("gcm.") || Self.reservedByFCM.contains(key)
    }

    private static let reservedByFCM: Set<String> = [
        "from", "message_type", "collapse_key", "priority", "ttl", "restricted_package_name", "notification",
        "fcm_options", "direct_boot_ok",
    ]
}

extension KiiInputError {
    static func message(at place: String..., rule: String) -> KiiInputError {
        KiiInputError(.message, at: JSONPointer(tokens: place), rule: rule)
    }
}
