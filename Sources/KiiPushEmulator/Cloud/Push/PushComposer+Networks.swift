import KiiPushCore

/// Messages for GCM, FCM, APNs and JPush. The emulator shows these messages, but does not send them to the networks.
extension PushComposer {
    private static let shortNames: [String: String] = [
        "appID": "a", "sender": "s", "type": "t", "when": "w", "origin": "o", "topic": "to",
        "objectScopeAppID": "sa", "objectScopeUserID": "su", "objectScopeGroupID": "sg", "objectScopeThingID": "sth",
        "objectScopeType": "st", "bucketID": "bi", "bucketType": "bt", "objectID": "oi", "modifiedAt": "om",
    ]
    /// The names of an alert's members: Kii's and Apple's.
    private static let alertNames = [
        ("title", "title"), ("subtitle", "subtitle"), ("body", "body"), ("actionLocKey", "action-loc-key"),
        ("locKey", "loc-key"), ("locArgs", "loc-args"), ("launchImage", "launch-image"),
    ]

    /// Every value in `data` is a string. `notification` is beside `data`.
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
        // Google's limit counts the data and the notification, but not the options.
        let counted = [payload] + options.filter { $0.0 == "notification" }.map { $0.1 }
        let isDryRun = options.contains { $0.0 == "dry_run" && $0.1.bool == true }
        return PushRendering(network, [("data", payload)] + options, counting: counted, isDryRun: isDryRun)
    }

    /// Kii may add other, unknown members to `aps`.
    func apple(_ fields: JSONMembers) -> PushRendering { self.apple(fields, [], aps: [("content-available", 1)]) }

    func apple(_ fields: JSONMembers, _ data: JSONMembers, _ sections: PushSections) -> PushRendering {
        let section = sections.section(.apns) ?? [:]
        let alert = (section["alert"] ?? [:]).renamed(PushComposer.alertNames)
        var aps = alert.isEmpty ? [] : [("alert", JSONValue.object(alert))]
        aps += section.renamed([("badge", "badge"), ("sound", "sound")])
        for (name, appleName) in [("contentAvailable", "content-available"), ("mutableContent", "mutable-content")] {
            // Any value but null, false and 0 counts as set.
            if let value = section.present(name), value.bool ?? (value.double != 0) { aps.append((appleName, 1)) }
        }
        return self.apple(fields, data, aps: aps + section.renamed([("category", "category")]))
    }

    /// Kii's short keys and the custom keys are beside `aps`. Times are strings.
    private func apple(_ fields: JSONMembers, _ data: JSONMembers, aps: JSONMembers) -> PushRendering {
        let short = fields.map { name, value in
            let isTime = name == "when" || name == "modifiedAt"
            return (PushComposer.shortNames[name] ?? name, isTime ? value.asText : value)
        }
        return PushRendering(.apns, [("aps", .object(aps))] + self.payload(data.filter { $0.0 != "aps" }, short))
    }

    /// JPush defines `extras` for an app's own members.
    func jpush(_ fields: JSONMembers, _ data: JSONMembers = []) -> PushRendering {
        PushRendering(.jpush, [("extras", .object(self.payload(data, fields)))])
    }
}

extension JSONValue {
    fileprivate var asText: JSONValue {
        self.kind == .string ? self : JSONValue(String(decoding: self.serialized(), as: UTF8.self))
    }

    fileprivate func renamed(_ names: [(String, String)]) -> JSONMembers {
        names.compactMap { name, other in self.present(name).map { (other, $0) } }
    }
}
