import KiiPushCore

/// Kii's delivery networks, named as their sections in the body of a send request.
enum PushNetwork: String, CaseIterable, Sendable {
    case gcm, fcm, apns, jpush, mqtt

    var deviceType: InstallationRecord.DeviceType {
        switch self {
        case .gcm, .fcm: .android
        case .apns: .ios
        case .jpush: .jpush
        case .mqtt: .mqtt
        }
    }

    /// The size limit of a message in bytes; `nil` if none is documented.
    ///
    /// - Source: Kii's REST reference of push messages, and its guides. For Apple the reference says 2048, a guide
    ///   4096.
    var maximumBytes: Int? {
        switch self {
        case .gcm, .fcm, .mqtt: 4096
        case .apns: 2048
        case .jpush: nil
        }
    }

    fileprivate var keyName: String? {
        switch self {
        case .gcm, .fcm: "GCMKEY"
        case .apns: "APNSKEY"
        case .jpush: "JPUSHKEY"
        case .mqtt: nil
        }
    }

    static let keyed = PushNetwork.allCases.filter { $0.keyName != nil }
}

extension AppSettings {
    func refusal(of network: PushNetwork) -> KiiFailure? {
        guard let key = network.keyName, !self.networks.contains(network) else { return nil }
        return KiiFailure(404, "\(key)_NOT_FOUND", "The app has no key for \(network.rawValue).")
    }
}

struct PushRendering: Sendable, Hashable {
    let network: PushNetwork
    let message: [UInt8]
    let countedBytes: Int
    /// Whether the sender asked the network to check the message without a delivery.
    var isDryRun = false

    init(_ network: PushNetwork, _ members: JSONMembers, counting counted: [JSONValue]? = nil, isDryRun: Bool = false) {
        self.network = network
        self.message = JSONValue.object(members).serialized()
        self.countedBytes = counted?.reduce(0) { $0 + $1.serialized().count } ?? self.message.count
        self.isDryRun = isDryRun
    }
}
