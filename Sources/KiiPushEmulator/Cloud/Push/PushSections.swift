import KiiPushCore

/// The parts of a send that are for one network each.
struct PushSections: Sendable {
    /// Google's options, in Kii's spelling and in Google's.
    static let googleOptions = [
        ("collapseKey", "collapse_key"), ("delayWhileIdle", "delay_while_idle"), ("timeToLive", "time_to_live"),
        ("restrictedPackageName", "restricted_package_name"), ("dryRun", "dry_run"),
    ]
    // Written again, and not shared with the library: one list in both could not contradict itself.
    private static let gcmReserved: Set<String> = [
        "from", "registration_ids", "collapse_key", "data", "delay_while_idle", "time_to_live",
        "restricted_package_name", "dry_run",
    ]
    private static let fcmReserved: Set<String> = [
        "from", "message_type", "collapse_key", "priority", "ttl", "restricted_package_name", "notification",
        "fcm_options", "direct_boot_ok",
    ]

    /// What Kii writes into an MQTT message itself, beside the data and on the same level.
    private static let mqttWritten: Set<String> = [
        "appID", "bucketID", "bucketType", "modifiedAt", "objectID", "objectScopeAppID", "objectScopeGroupID",
        "objectScopeThingID", "objectScopeType", "objectScopeUserID", "origin", "sender", "senderURI", "sourceURI",
        "topic", "type", "when",
    ]

    private let common: [JSONMember]
    private let sections: [PushNetwork: JSONValue]

    /// - Parameter isStrict: whether MQTT's data may not have keys that Kii writes itself. Kii lets them pass: a value of
    ///   its own then stands in their place, and where it writes none receivers take the sender's for Kii's.
    init(_ body: JSONValue, isStrict: Bool) throws(KiiFailure) {
        self.common = try PushSections.flatMembers(body["data"], name: "data", onlyStrings: false) ?? []
        var sections: [PushNetwork: JSONValue] = [:]
        for network in PushNetwork.allCases {
            guard let section = body.present(network.rawValue) else { continue }
            guard section.kind == .object else { throw .invalidInput("\(network.rawValue) has to be an object.") }
            if let enabled = section["enabled"], enabled.bool == nil {
                throw .invalidInput("\(network.rawValue).enabled has to be true or false.")
            }
            sections[network] = section
        }
        self.sections = sections
        guard sections.values.contains(where: { $0["enabled"] != nil }) else {
            throw .invalidInput("At least one of gcm, fcm, apns, jpush and mqtt is needed, with `enabled`.")
        }
        for network in PushNetwork.allCases where self.isEnabled(network) { try self.check(network, body) }
        if isStrict, self.isEnabled(.mqtt) {
            try PushSections.checkKeys(self.data(of: .mqtt), prefixes: [], reserved: PushSections.mqttWritten)
        }
        if sections[.gcm]?["dryRun"]?.bool == true, self.isEnabled(.apns) {
            throw .invalidInput("gcm.dryRun is not possible together with apns.")
        }
    }

    func section(_ network: PushNetwork) -> JSONValue? { self.sections[network] }

    /// Whether the section is there and says so.
    func isEnabled(_ network: PushNetwork) -> Bool { self.sections[network]?["enabled"]?.bool ?? false }

    /// The common data with the section's own merged over it, key by key.
    func data(of network: PushNetwork) -> [JSONMember] {
        let own = self.sections[network]?["data"]?.members ?? []
        let ownKeys = Set(own.map { $0.key })
        return self.common.filter { !ownKeys.contains($0.key) } + own
    }

    private func check(_ network: PushNetwork, _ body: JSONValue) throws(KiiFailure) {
        let name = "\(network.rawValue).data"
        let isGoogle = network == .gcm || network == .fcm
        let section = SectionFields(network, self.sections[network] ?? [:])
        let own = try PushSections.flatMembers(section.value["data"], name: name, onlyStrings: isGoogle)
        // Apple's messages may be an alert alone; the others are nothing without data.
        let isNotification = section.value["notification"] != nil || network == .apns
        guard own != nil || body["data"] != nil || isNotification else {
            throw .invalidInput("data or \(name) is needed.")
        }
        let data = self.data(of: network)
        switch network {
        case .gcm:
            try PushSections.checkKeys(data, prefixes: ["google."], reserved: PushSections.gcmReserved)
            try section.checkGoogle()
        case .fcm:
            try PushSections.checkKeys(data, prefixes: ["google.", "gcm."], reserved: PushSections.fcmReserved)
            try section.checkGoogle()
        case .apns: try section.checkApple()
        case .jpush, .mqtt: break
        }
    }

    private static func checkKeys(_ data: [JSONMember], prefixes: [String], reserved: Set<String>) throws(KiiFailure) {
        for member in data
        where reserved.contains(member.key) || prefixes.contains(where: { member.key.hasPrefix($0) }) {
            throw .invalidInput("The key \(member.key) is reserved.")
        }
    }

    /// The members of an object without objects and arrays in it; `nil` when there is none.
    private static func flatMembers(
        _ value: JSONValue?, name: String, onlyStrings: Bool
    ) throws(KiiFailure) -> [JSONMember]? {
        guard let value, !value.isNull else { return nil }
        guard let members = value.members else { throw .invalidInput("\(name) has to be an object.") }
        for member in members {
            switch member.value.kind {
            case .object, .array:
                throw .invalidInput("\(name) has to be flat: \(member.key) is nested.")
            case .null, .bool, .number:
                guard !onlyStrings else { throw .invalidInput("\(name) has to hold strings alone: \(member.key).") }
            case .string: break
            }
        }
        return members
    }
}
