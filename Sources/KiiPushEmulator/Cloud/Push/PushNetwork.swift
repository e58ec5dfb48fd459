import KiiPushCore

/// The networks that Kii delivers through, by the names of their sections in a send.
enum PushNetwork: String, CaseIterable, Sendable {
    case gcm, fcm, apns, jpush, mqtt

    /// The installations that it reaches. Google's old and new network reach the same ones; the new one goes first.
    var deviceType: InstallationRecord.DeviceType {
        switch self {
        case .gcm, .fcm: .android
        case .apns: .ios
        case .jpush: .jpush
        case .mqtt: .mqtt
        }
    }

    /// How large a message may be, and what is counted; `nil` where no limit is documented.
    ///
    /// - Source: Kii's REST reference of push messages, and its guides. Of Apple's the reference says 2048, a guide 4096.
    var maximumBytes: Int? {
        switch self {
        case .gcm, .fcm, .mqtt: 4096
        case .apns: 2048
        case .jpush: nil
        }
    }

    /// What Kii's errors call the key that the app needs for it, one for both of Google's networks; `nil` for MQTT.
    fileprivate var keyName: String? {
        switch self {
        case .gcm, .fcm: "GCMKEY"
        case .apns: "APNSKEY"
        case .jpush: "JPUSHKEY"
        case .mqtt: nil
        }
    }

    /// The networks that the app needs keys for.
    static let keyed = PushNetwork.allCases.filter { $0.keyName != nil }
}

extension AppSettings {
    /// Why `network` cannot be sent to; `nil` when the app has its key, or needs none.
    func refusal(of network: PushNetwork) -> KiiFailure? {
        guard let key = network.keyName, !self.networks.contains(network) else { return nil }
        return KiiFailure(404, "\(key)_NOT_FOUND", "The app has no key for \(network.rawValue).")
    }
}

/// One message as one network gets it.
struct PushRendering: Sendable, Hashable {
    let network: PushNetwork
    /// What is handed to the network: over MQTT the payload itself.
    let message: [UInt8]
    /// The bytes that the network's limit counts.
    let countedBytes: Int
    /// Whether the network only checks it.
    var isDryRun = false

    init(_ network: PushNetwork, _ members: JSONMembers, counting counted: [JSONValue]? = nil, isDryRun: Bool = false) {
        self.network = network
        self.message = JSONValue.object(members).serialized()
        self.countedBytes = counted?.reduce(0) { $0 + $1.serialized().count } ?? self.message.count
        self.isDryRun = isDryRun
    }
}
