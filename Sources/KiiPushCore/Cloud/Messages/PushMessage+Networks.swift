extension PushMessage {
    /// A network to which Kii delivers. The raw value is the network's key in a message's JSON.
    package enum Network: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        case mqtt
        case fcm
        case apns
        case jpush

        package var description: String {
            switch self {
            case .mqtt, .fcm: self.rawValue.uppercased()
            case .apns: "APNs"
            case .jpush: "JPush"
            }
        }
    }

    struct Part {
        var network: Network
        var isEnabled: Bool
        var data: JSONValue?
        var worksWithoutData = false
        /// Further members of the delivered data: `aps` for APNs.
        var inside: JSONMembers = []
        /// A further object of the delivered message: Android's notification.
        var beside: JSONValue?
    }

    var parts: [Part] {
        let parts = [
            self.mqtt.map { Part(network: .mqtt, isEnabled: $0.isEnabled, data: $0.data) },
            self.fcm?.part, self.apns?.part,
            self.jpush.map { Part(network: .jpush, isEnabled: $0.isEnabled, data: $0.data) },
        ]
        return parts.compactMap { $0 }
    }
}

extension PushMessage.AndroidPart {
    fileprivate var part: PushMessage.Part {
        .init(
            network: .fcm, isEnabled: self.isEnabled, data: self.data, worksWithoutData: self.notification != nil,
            beside: self.notification?.json)
    }
}

extension PushMessage.APNS {
    fileprivate var part: PushMessage.Part {
        let payload = self.payload
        return .init(
            network: .apns, isEnabled: self.isEnabled, data: self.data, worksWithoutData: !payload.isEmpty,
            inside: [("aps", .object(payload))])
    }

    private var payload: JSONMembers {
        let renamed = [
            "actionLocKey": "action-loc-key", "locKey": "loc-key", "locArgs": "loc-args", "launchImage": "launch-image",
        ]
        let alert = self.alert.map { JSONValue.object($0.json.pairs.map { (renamed[$0.0] ?? $0.0, $0.1) }) }
        return JSONMembers(present: [
            "alert": alert, "sound": self.sound, "badge": self.badge,
            "content-available": self.contentAvailable == true ? 1 : Int?.none,
            "mutable-content": self.mutableContent == true ? 1 : Int?.none, "category": self.category,
        ])
    }
}
