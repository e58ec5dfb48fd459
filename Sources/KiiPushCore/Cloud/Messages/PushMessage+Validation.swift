extension PushMessage {
    /// Refuses what Kii documents as 400 `INVALID_INPUT_DATA`, with the place in the message.
    ///
    /// - Parameters:
    ///   - sizeLimits: How large it may be on each network. Default: what Kii documents. The cloud adds fields of its
    ///     own before it measures, so a message a little below a limit can still be refused by it.
    ///   - destination: Where it goes, which adds to its size. Default `nil`: not known yet.
    /// - Throws: ``KiiInputError`` with a ``KiiInputError/pointer`` into ``json``; when it is too large, to the part of
    ///   the network.
    package func validate(
        sizeLimits: SizeLimits = .documented,
        to destination: PushDestination? = nil
    ) throws(KiiInputError) {
        let parts = self.parts
        guard parts.contains(where: \.isEnabled) else {
            throw KiiInputError(.message, at: JSONPointer(), rule: "for at least one enabled network")
        }
        let common = JSONPointer(tokens: ["data"])
        try DataRule.flat.check(self.data, at: common)
        for part in parts { try part.validate(common: self.data) }
        try self.gcm?.validate()
        try self.fcm?.validate()
        if self.gcm?.dryRun == true, self.apns?.isEnabled == true {
            throw KiiInputError(
                .message, at: JSONPointer(tokens: ["gcm", "dryRun"]), rule: "false when APNs is enabled")
        }
        for part in parts where part.isEnabled {
            try self.validateSize(of: part, to: destination, limits: sizeLimits)
        }
    }
}

extension PushMessage.GCM {
    fileprivate func validate() throws(KiiInputError) {
        try PushMessage.validate(self.timeToLive, collapseKey: self.collapseKey, over: .gcm)
    }
}

extension PushMessage.FCM {
    fileprivate func validate() throws(KiiInputError) {
        try PushMessage.validate(self.timeToLive, collapseKey: self.collapseKey, over: .fcm)
    }
}

extension PushMessage {
    fileprivate static func validate(
        _ timeToLive: Duration?,
        collapseKey: String?,
        over network: Network
    ) throws(KiiInputError) {
        guard let timeToLive else { return }
        guard timeToLive >= .zero else {
            throw KiiInputError(
                .message, at: JSONPointer(tokens: [network.rawValue, "timeToLive"]), rule: "0 s or longer")
        }
        guard collapseKey != nil else {
            throw KiiInputError(
                .message, at: JSONPointer(tokens: [network.rawValue, "collapseKey"]), rule: "present with timeToLive")
        }
    }
}

extension PushMessage.Part {
    fileprivate func validate(common: JSONValue?) throws(KiiInputError) {
        let pointer = JSONPointer(tokens: [self.network.rawValue, "data"])
        try DataRule(for: self.network).check(self.data, at: pointer)
        guard self.isEnabled else { return }
        // Kii wants common data "if some enabled network has none of its own"; what works without data is left to the
        // cloud to judge.
        guard common != nil || self.data != nil || self.worksWithoutData else {
            throw KiiInputError(
                .message, at: JSONPointer(tokens: ["data"]), rule: "present when \(self.network.rawValue) has no data")
        }
        guard let reserved = ReservedKeys(of: self.network) else { return }
        try reserved.refuse(common, at: JSONPointer(tokens: ["data"]))
        try reserved.refuse(self.data, at: pointer)
    }
}

/// Which values data may hold.
///
/// - Source: Kii's reference of `push/messages`
private enum DataRule {
    /// Anything but objects and arrays.
    case flat
    /// Strings, numbers and Booleans: what APNs and JPush carry.
    case scalars
    /// Strings alone: what GCM and FCM carry.
    case strings

    init(for network: PushMessage.Network) {
        switch network {
        case .mqtt: self = .flat
        case .apns, .jpush: self = .scalars
        case .gcm, .fcm: self = .strings
        }
    }

    func check(_ data: JSONValue?, at pointer: JSONPointer) throws(KiiInputError) {
        guard let data else { return }
        guard let members = data.members else { throw KiiInputError(.message, at: pointer, rule: "a JSON object") }
        for member in members {
            guard let rule = self.rule(against: member.value.kind) else { continue }
            throw KiiInputError(.message, at: pointer.appending(member.key), rule: rule)
        }
    }

    /// What is said about a value of the kind; `nil` when it may be there.
    private func rule(against kind: JSONValue.Kind) -> String? {
        switch (self, kind) {
        case (_, .object), (_, .array): "a string, number or Boolean, since data is flat"
        case (_, .string), (.flat, _), (.scalars, .bool), (.scalars, .number): nil
        case (.scalars, .null): "a string, number or Boolean, not null"
        case (.strings, .null), (.strings, .bool), (.strings, .number): "a string"
        }
    }
}

/// Keys that a network keeps for itself.
///
/// - Source: Kii's reference of `push/messages`; its SDKs refuse the prefix `google` without the dot as well.
private struct ReservedKeys {
    var prefixes: [String]
    var names: Set<String>

    init?(of network: PushMessage.Network) {
        switch network {
        case .gcm:
            self.prefixes = ["google."]
            self.names = [
                "from", "registration_ids", "collapse_key", "data", "delay_while_idle", "time_to_live",
                "restricted_package_name", "dry_run",
            ]
        case .fcm:
            self.prefixes = ["google.", "gcm."]
            self.names = [
                "from", "message_type", "collapse_key", "priority", "ttl", "restricted_package_name", "notification",
                "fcm_options", "direct_boot_ok",
            ]
        case .mqtt, .apns, .jpush: return nil
        }
    }

    func refuse(_ data: JSONValue?, at pointer: JSONPointer) throws(KiiInputError) {
        for member in data?.members ?? []
        where self.names.contains(member.key) || self.prefixes.contains(where: { member.key.hasPrefix($0) }) {
            throw KiiInputError(
                .message, at: pointer.appending(member.key), rule: "under a key that GCM and FCM do not reserve")
        }
    }
}
