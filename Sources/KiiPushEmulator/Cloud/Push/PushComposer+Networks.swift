import KiiPushCore

/// What GCM, FCM, APNs and JPush are handed. The emulator reaches none of them; it shows what they would get.
extension PushComposer {
    /// The names that Kii has for its fields in Apple's messages.
    private static let shortNames: [String: String] = [
        "appID": "a", "sender": "s", "type": "t", "when": "w", "origin": "o", "topic": "to",
        "objectScopeAppID": "sa", "objectScopeUserID": "su", "objectScopeGroupID": "sg", "objectScopeThingID": "sth",
        "objectScopeType": "st", "bucketID": "bi", "bucketType": "bt", "objectID": "oi", "modifiedAt": "om",
    ]
    /// Of Kii's spelling, Apple's.
    private static let alertNames = [
        ("title", "title"), ("subtitle", "subtitle"), ("body", "body"), ("actionLocKey", "action-loc-key"),
        ("locKey", "loc-key"), ("locArgs", "loc-args"), ("launchImage", "launch-image"),
    ]

    // MARK: - Google

    /// In `data` every value is a string; `notification` stands beside it.
    func google(
        _ network: PushNetwork, _ fields: [Field], _ data: [JSONMember], _ sections: PushSections
    ) -> PushRendering {
        var options: [Field] = []
        if let notification = sections.section(network)?["notification"], notification.members?.isEmpty == false {
            let members = (notification.members ?? []).map {
                ($0.key == "clickAction" ? "click_action" : $0.key, $0.value)
            }
            options.append(("notification", .object(members)))
        }
        for (name, googleName) in PushSections.googleOptions {
            if let value = sections.section(network)?.present(name) { options.append((googleName, value)) }
        }
        return self.google(network, fields, data, options: options)
    }

    func google(
        _ network: PushNetwork, _ fields: [Field], _ data: [JSONMember] = [], options: [Field]
    ) -> PushRendering {
        let texts = (self.payload(data, fields).members ?? []).compactMap { member -> Field? in
            PushComposer.text(member.value).map { (member.key, JSONValue($0)) }
        }
        let payload = JSONValue.object(texts)
        // Google counts what reaches the app: the data and the notification, not the options.
        let counted = [payload] + options.filter { $0.0 == "notification" }.map { $0.1 }
        let isDryRun = options.contains { $0.0 == "dry_run" && $0.1.bool == true }
        return PushRendering(network, .object([("data", payload)] + options), counting: counted, isDryRun: isDryRun)
    }

    /// A value as a string; `nil` for null, which has none.
    private static func text(_ value: JSONValue) -> String? {
        switch value.kind {
        case .null: nil
        case .string: value.string
        case .bool, .number, .array, .object: String(decoding: value.serialized(), as: UTF8.self)
        }
    }

    // MARK: - Apple

    /// Push to app: silent. What else Kii's cloud puts into `aps` is not known.
    func apple(_ fields: [Field]) -> PushRendering { self.apple(fields, [], aps: [("content-available", 1)]) }

    func apple(_ fields: [Field], _ data: [JSONMember], _ sections: PushSections) -> PushRendering {
        let section = sections.section(.apns) ?? [:]
        var aps: [Field] = []
        if let alert = section["alert"] {
            let members = PushComposer.alertNames.compactMap { name, appleName -> Field? in
                alert.present(name).map { (appleName, $0) }
            }
            if !members.isEmpty { aps.append(("alert", .object(members))) }
        }
        for name in ["badge", "sound"] {
            if let value = section.present(name) { aps.append((name, value)) }
        }
        for (name, appleName) in [("contentAvailable", "content-available"), ("mutableContent", "mutable-content")]
        where PushComposer.isSet(section[name]) { aps.append((appleName, 1)) }
        if let category = section.present("category") { aps.append(("category", category)) }
        return self.apple(fields, data, aps: aps)
    }

    /// Kii's short keys and the custom keys stand beside `aps`. Times are strings there.
    private func apple(_ fields: [Field], _ data: [JSONMember], aps: [Field]) -> PushRendering {
        let short = fields.map { name, value -> Field in
            let isTime = name == "when" || name == "modifiedAt"
            let text = isTime ? PushComposer.text(value).map { JSONValue($0) } : nil as JSONValue?
            return (PushComposer.shortNames[name] ?? name, text ?? value)
        }
        let custom = data.filter { $0.key != "aps" }
        return PushRendering(.apns, .object([("aps", .object(aps))] + self.payload(custom, short).fields))
    }

    /// Anything but absent, false and 0.
    private static func isSet(_ value: JSONValue?) -> Bool {
        guard let value, !value.isNull else { return false }
        return value.bool ?? (value.double != 0)
    }

    // MARK: - JPush

    /// Values keep their types. The name `extras` is JPush's own for what an app adds.
    func jpush(_ fields: [Field], _ data: [JSONMember] = []) -> PushRendering {
        PushRendering(.jpush, .object([("extras", self.payload(data, fields))]))
    }
}
