extension PushMessage {
    /// Refuses what Kii documents as 400 `INVALID_INPUT_DATA`, with the place in the message.
    ///
    /// The size is left to the cloud, which adds fields of its own before it measures.
    ///
    /// - Throws: ``KiiInputError`` with a ``KiiInputError/pointer`` into ``json``.
    public func validate() throws(KiiInputError) {
        guard self.networks.contains(where: \.isEnabled) else {
            throw KiiInputError(.message, at: JSONPointer(), rule: "for at least one enabled network")
        }
        try self.refuseNesting(self.data, at: JSONPointer(tokens: ["data"]))
        for network in self.networks {
            let pointer = JSONPointer(tokens: [network.name, "data"])
            try self.refuseNesting(network.data, at: pointer)
            if network.isStringsOnly { try self.refuseNonStrings(network.data, at: pointer) }
            guard network.isEnabled else { continue }
            // Kii wants common data "if some enabled network has none of its own"; what is shown without data is left
            // to the cloud to judge.
            guard self.data != nil || network.data != nil || network.showsSomething else {
                throw KiiInputError(
                    .message, at: JSONPointer(tokens: ["data"]), rule: "present when \(network.name) has no data")
            }
            if let reserved = network.reserved {
                try reserved.refuse(self.data, at: JSONPointer(tokens: ["data"]))
                try reserved.refuse(network.data, at: pointer)
            }
        }
        try self.validateGCM()
    }

    private func validateGCM() throws(KiiInputError) {
        guard let gcm = self.gcm else { return }
        if let timeToLive = gcm.timeToLive {
            guard timeToLive >= .zero else {
                throw KiiInputError(.message, at: JSONPointer(tokens: ["gcm", "timeToLive"]), rule: "0 s or longer")
            }
            guard gcm.collapseKey != nil else {
                throw KiiInputError(
                    .message, at: JSONPointer(tokens: ["gcm", "collapseKey"]), rule: "present with timeToLive")
            }
        }
        if gcm.dryRun == true, self.apns?.isEnabled == true {
            throw KiiInputError(
                .message, at: JSONPointer(tokens: ["gcm", "dryRun"]), rule: "false when APNs is enabled")
        }
    }

    private func refuseNesting(_ data: JSONValue?, at pointer: JSONPointer) throws(KiiInputError) {
        guard let data else { return }
        guard let members = data.members else { throw KiiInputError(.message, at: pointer, rule: "a JSON object") }
        for member in members where member.value.kind == .object || member.value.kind == .array {
            throw KiiInputError(
                .message, at: pointer.appending(member.key), rule: "a string, number or Boolean, since data is flat")
        }
    }

    private func refuseNonStrings(_ data: JSONValue?, at pointer: JSONPointer) throws(KiiInputError) {
        for member in data?.members ?? [] where member.value.kind != .string {
            throw KiiInputError(.message, at: pointer.appending(member.key), rule: "a string")
        }
    }
}

/// What the rules need to know of one network's part.
private struct Network {
    var name: String
    var isEnabled: Bool
    var data: JSONValue?
    var isStringsOnly = false
    var showsSomething = false
    var reserved: ReservedKeys?
}

extension PushMessage {
    private var networks: [Network] {
        var networks: [Network] = []
        if let part = self.mqtt { networks.append(Network(name: "mqtt", isEnabled: part.isEnabled, data: part.data)) }
        if let part = self.gcm {
            networks.append(
                Network(
                    name: "gcm", isEnabled: part.isEnabled, data: part.data, isStringsOnly: true,
                    showsSomething: part.notification != nil, reserved: .gcm))
        }
        if let part = self.fcm {
            networks.append(
                Network(
                    name: "fcm", isEnabled: part.isEnabled, data: part.data, isStringsOnly: true,
                    showsSomething: part.notification != nil, reserved: .fcm))
        }
        if let part = self.apns {
            networks.append(
                Network(name: "apns", isEnabled: part.isEnabled, data: part.data, showsSomething: part.alert != nil))
        }
        if let part = self.jpush { networks.append(Network(name: "jpush", isEnabled: part.isEnabled, data: part.data)) }
        return networks
    }
}

/// Keys that a network keeps for itself.
///
/// - Source: Kii's reference of `push/messages`; its SDKs refuse the prefix `google` without the dot as well.
private struct ReservedKeys {
    var prefixes: [String]
    var names: Set<String>

    static let gcm = ReservedKeys(
        prefixes: ["google."],
        names: [
            "from", "registration_ids", "collapse_key", "data", "delay_while_idle", "time_to_live",
            "restricted_package_name", "dry_run",
        ]
    )
    static let fcm = ReservedKeys(
        prefixes: ["google.", "gcm."],
        names: [
            "from", "message_type", "collapse_key", "priority", "ttl", "restricted_package_name", "notification",
            "fcm_options", "direct_boot_ok",
        ]
    )

    func refuse(_ data: JSONValue?, at pointer: JSONPointer) throws(KiiInputError) {
        for member in data?.members ?? []
        where self.names.contains(member.key) || self.prefixes.contains(where: { member.key.hasPrefix($0) }) {
            throw KiiInputError(
                .message, at: pointer.appending(member.key), rule: "under a key that GCM and FCM do not reserve")
        }
    }
}
