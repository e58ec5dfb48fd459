extension PushMessage {
    /// What carries a message to an installation. The raw value is the name of the message's part for it.
    public enum Network: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// Installations of type `MQTT`.
        case mqtt
        /// Installations of type `ANDROID`, unless FCM is enabled as well.
        case gcm
        /// Installations of type `ANDROID`.
        case fcm
        /// Installations of type `IOS`.
        case apns
        /// Installations of type `JPUSH`.
        case jpush

        /// The name as its makers write it.
        public var description: String {
            switch self {
            case .mqtt: "MQTT"
            case .gcm: "GCM"
            case .fcm: "FCM"
            case .apns: "APNs"
            case .jpush: "JPush"
            }
        }
    }

    /// What the rules need to know of one network's part.
    struct Part {
        var network: Network
        var isEnabled: Bool
        var data: JSONValue?
        /// Whether a device shows or does something without any data.
        var worksWithoutData = false
        /// What stands among the data in the payload that is delivered: `aps`.
        var inside: [(String, JSONValue)] = []
        /// What is delivered beside the data: what Android shows by itself.
        var beside: JSONValue?
    }

    /// The parts that are there.
    var parts: [Part] {
        var parts: [Part] = []
        if let part = self.mqtt { parts.append(Part(network: .mqtt, isEnabled: part.isEnabled, data: part.data)) }
        if let part = self.gcm {
            parts.append(Part(.gcm, isEnabled: part.isEnabled, data: part.data, notification: part.notification))
        }
        if let part = self.fcm {
            parts.append(Part(.fcm, isEnabled: part.isEnabled, data: part.data, notification: part.notification))
        }
        if let part = self.apns {
            let payload = part.payload
            parts.append(
                Part(
                    network: .apns, isEnabled: part.isEnabled, data: part.data, worksWithoutData: !payload.isEmpty,
                    inside: [("aps", .object(payload))]))
        }
        if let part = self.jpush { parts.append(Part(network: .jpush, isEnabled: part.isEnabled, data: part.data)) }
        return parts
    }
}

extension PushMessage.Part {
    fileprivate init(
        _ network: PushMessage.Network,
        isEnabled: Bool,
        data: JSONValue?,
        notification: PushMessage.AndroidNotification?
    ) {
        self.init(network: network, isEnabled: isEnabled, data: data)
        guard let notification else { return }
        self.worksWithoutData = true
        self.beside = notification.json
    }
}

extension PushMessage.APNS {
    /// The members of `aps` as Apple's network delivers them.
    fileprivate var payload: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let alert = self.alert {
            let renamed = [
                "actionLocKey": "action-loc-key", "locKey": "loc-key", "locArgs": "loc-args",
                "launchImage": "launch-image",
            ]
            members.append(
                ("alert", .object((alert.json.members ?? []).map { (renamed[$0.key] ?? $0.key, $0.value) })))
        }
        if let sound = self.sound { members.append(("sound", JSONValue(sound))) }
        if let badge = self.badge { members.append(("badge", JSONValue(badge))) }
        if self.contentAvailable == true { members.append(("content-available", 1)) }
        if self.mutableContent == true { members.append(("mutable-content", 1)) }
        if let category = self.category { members.append(("category", JSONValue(category))) }
        return members
    }
}
