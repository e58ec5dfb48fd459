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

    /// In `data` every value is a string; `notification` stands beside it.
    func google(
        _ network: PushNetwork, _ fields: JSONMembers, _ data: JSONMembers, _ sections: PushSections
    ) -> PushRendering {
        let section = sections.section(network) ?? [:]
        let notification = (section["notification"]?.pairs ?? []).map { name, value in
            (name == "clickAction" ? "click_action" : name, value)
        }
        let options = notification.isEmpty ? [] : [("notification", JSONValue.object(notification))]
        return self.google(network, fields, data, options: options + section.renamed(PushSections.googleOptions))
    }

    func google(
        _ network: PushNetwork, _ fields: JSONMembers, _ data: JSONMembers = [], options: JSONMembers
    ) -> PushRendering {
        let payload = JSONValue.object(
            self.payload(data, fields).filter { !$0.1.isNull }.map { ($0.0, $0.1.asText) })
        // Google counts what reaches the app: the data and the notification, not the options.
        let counted = [payload] + options.filter { $0.0 == "notification" }.map { $0.1 }
        let isDryRun = options.contains { $0.0 == "dry_run" && $0.1.bool == true }
        return PushRendering(network, [("data", payload)] + options, counting: counted, isDryRun: isDryRun)
    }

    /// Push to app: silent. What else Kii's cloud puts into `aps` is not known.
    func apple(_ fields: JSONMembers) -> PushRendering { self.apple(fields, [], aps: [("content-available", 1)]) }

    func apple(_ fields: JSONMembers, _ data: JSONMembers, _ sections: PushSections) -> PushRendering {
        let section = sections.section(.apns) ?? [:]
        let alert = (section["alert"] ?? [:]).renamed(PushComposer.alertNames)
        var aps = alert.isEmpty ? [] : [("alert", JSONValue.object(alert))]
        aps += section.renamed([("badge", "badge"), ("sound", "sound")])
        for (name, appleName) in [("contentAvailable", "content-available"), ("mutableContent", "mutable-content")] {
            // Anything but absent, false and 0.
            if let value = section.present(name), value.bool ?? (value.double != 0) { aps.append((appleName, 1)) }
        }
        return self.apple(fields, data, aps: aps + section.renamed([("category", "category")]))
    }

    /// Kii's short keys and the custom keys stand beside `aps`. Times are strings there.
    private func apple(_ fields: JSONMembers, _ data: JSONMembers, aps: JSONMembers) -> PushRendering {
        let short = fields.map { name, value in
            let isTime = name == "when" || name == "modifiedAt"
            return (PushComposer.shortNames[name] ?? name, isTime ? value.asText : value)
        }
        return PushRendering(.apns, [("aps", .object(aps))] + self.payload(data.filter { $0.0 != "aps" }, short))
    }

    /// Values keep their types. The name `extras` is JPush's own for what an app adds.
    func jpush(_ fields: JSONMembers, _ data: JSONMembers = []) -> PushRendering {
        PushRendering(.jpush, [("extras", .object(self.payload(data, fields)))])
    }
}

extension JSONValue {
    /// A string as it is, anything else as it is written.
    fileprivate var asText: JSONValue {
        self.kind == .string ? self : JSONValue(String(decoding: self.serialized(), as: UTF8.self))
    }

    /// The members of these names that are there and not null, under other names.
    fileprivate func renamed(_ names: [(String, String)]) -> JSONMembers {
        names.compactMap { name, other in self.present(name).map { (other, $0) } }
    }
}
