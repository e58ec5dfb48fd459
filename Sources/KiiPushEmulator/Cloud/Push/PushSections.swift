import KiiPushCore

struct PushSections: Sendable {
    static let googleOptions = [
        ("collapseKey", "collapse_key"), ("delayWhileIdle", "delay_while_idle"), ("timeToLive", "time_to_live"),
        ("restrictedPackageName", "restricted_package_name"), ("dryRun", "dry_run"),
    ]
    // Separate from the library's list of the same keys, so that tests reveal an error in either list.
    private static let gcmReserved: Set<String> = [
        "from", "registration_ids", "collapse_key", "data", "delay_while_idle", "time_to_live",
        "restricted_package_name", "dry_run",
    ]
    private static let fcmReserved: Set<String> = [
        "from", "message_type", "collapse_key", "priority", "ttl", "restricted_package_name", "notification",
        "fcm_options", "direct_boot_ok",
    ]

    /// Keys that Kii itself writes into an MQTT message, beside the sender's data.
    private static let mqttWritten: Set<String> = [
        "appID", "bucketID", "bucketType", "modifiedAt", "objectID", "objectScopeAppID", "objectScopeGroupID",
        "objectScopeThingID", "objectScopeType", "objectScopeUserID", "origin", "sender", "senderURI", "sourceURI",
        "topic", "type", "when",
    ]

    private let common: JSONMembers
    private var sections: [PushNetwork: JSONValue] = [:]

    /// - Parameter isStrict: whether to refuse MQTT data with keys that Kii uses itself. Kii's cloud accepts such data.
    ///   If Kii writes the key into this message, Kii's value replaces the sender's. If not, receivers mistake the
    ///   sender's value for Kii's.
    init(_ body: JSONValue, isStrict: Bool) throws(KiiFailure) {
        try PushSections.checkIsFlat(body.present("data"), name: "data", onlyStrings: false)
        self.common = body["data"]?.pairs ?? []
        for network in PushNetwork.allCases {
            guard let section = body.present(network.rawValue) else { continue }
            guard section.kind == .object else { throw .invalidInput("\(network.rawValue) has to be an object.") }
            if let enabled = section["enabled"], enabled.bool == nil {
                throw .invalidInput("\(network.rawValue).enabled has to be true or false.")
            }
            self.sections[network] = section
        }
        guard self.sections.values.contains(where: { $0["enabled"] != nil }) else {
            throw .invalidInput("At least one of gcm, fcm, apns, jpush and mqtt is needed, with `enabled`.")
        }
        for network in PushNetwork.allCases where self.isEnabled(network) { try self.check(network, body) }
        if isStrict, self.isEnabled(.mqtt) { try self.checkKeys(of: .mqtt, [], reserved: PushSections.mqttWritten) }
        if self.sections[.gcm]?["dryRun"]?.bool == true, self.isEnabled(.apns) {
            throw .invalidInput("gcm.dryRun is not possible together with apns.")
        }
    }

    func section(_ network: PushNetwork) -> JSONValue? { self.sections[network] }

    func isEnabled(_ network: PushNetwork) -> Bool { self.sections[network]?["enabled"]?.bool ?? false }

    func data(of network: PushNetwork) -> JSONMembers {
        let own = self.sections[network]?["data"]?.pairs ?? []
        let ownKeys = Set(own.map { $0.0 })
        return self.common.filter { !ownKeys.contains($0.0) } + own
    }

    private func check(_ network: PushNetwork, _ body: JSONValue) throws(KiiFailure) {
        let name = "\(network.rawValue).data"
        let isGoogle = network == .gcm || network == .fcm
        let section = SectionFields(network: network, value: self.sections[network] ?? [:])
        let own = section.value.present("data")
        try PushSections.checkIsFlat(own, name: name, onlyStrings: isGoogle)
        // A message for Apple, or one with `notification`, needs no data. Any other message needs data.
        let isNotification = section.value["notification"] != nil || network == .apns
        guard own != nil || body["data"] != nil || isNotification else {
            throw .invalidInput("data or \(name) is needed.")
        }
        switch network {
        case .gcm: try self.checkKeys(of: .gcm, ["google."], reserved: PushSections.gcmReserved)
        case .fcm: try self.checkKeys(of: .fcm, ["google.", "gcm."], reserved: PushSections.fcmReserved)
        case .apns: try section.checkApple()
        case .jpush, .mqtt: break
        }
        if isGoogle { try section.checkGoogle() }
    }

    private func checkKeys(
        of network: PushNetwork, _ prefixes: [String], reserved: Set<String>
    ) throws(KiiFailure) {
        for (key, _) in self.data(of: network)
        where reserved.contains(key) || prefixes.contains(where: { key.hasPrefix($0) }) {
            throw .invalidInput("The key \(key) is reserved.")
        }
    }

    private static func checkIsFlat(_ value: JSONValue?, name: String, onlyStrings: Bool) throws(KiiFailure) {
        guard let value else { return }
        guard value.kind == .object else { throw .invalidInput("\(name) has to be an object.") }
        for (key, member) in value.pairs {
            switch member.kind {
            case .object, .array: throw .invalidInput("\(name) has to be flat: \(key) is nested.")
            case .null, .bool, .number:
                guard !onlyStrings else { throw .invalidInput("\(name) has to hold strings alone: \(key).") }
            case .string: break
            }
        }
    }
}
