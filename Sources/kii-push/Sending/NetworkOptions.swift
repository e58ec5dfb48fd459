import KiiPushCore

/// Which networks a message goes out over, and what is for one of them alone.
struct NetworkOptions: ParsableArguments {
    @Option(
        value: "NETWORK",
        help:
            "Only over mqtt, gcm, fcm, apns or jpush. May be repeated. Default: mqtt if there is data, and apns if there "
            + "is something for Apple's devices.")
    var network: [PushMessage.Network] = []

    @Option(value: "NETWORK=JSON", help: "Flat data for one network, merged over the data. May be repeated.")
    var networkData: [NetworkData] = []

    @Option(value: "KEY", help: "gcm, fcm: messages with the same key replace each other.") var collapseKey: String?

    @Option(value: "TIME", help: "gcm, fcm: keep it this long for a device that is away. Needs --collapse-key.")
    var timeToLive: TimeSpan?

    @Option(value: "NAME", help: "gcm, fcm: only this package gets it.") var package: String?

    @Option(
        value: "KEY=TEXT",
        help: "gcm, fcm: what Android shows: title, body, icon, sound, tag, color, clickAction. May be repeated.")
    var notification: [NotificationPart] = []

    @Flag(help: "gcm: wait while the device is idle.") var delayWhileIdle = false

    @Flag(help: "gcm: only check it.") var gcmDryRun = false

    /// Whether any network is named, or has data of its own.
    var isGiven: Bool { !self.network.isEmpty || !self.networkData.isEmpty }

    func validate() throws {
        let google: [(String, Bool)] = [
            ("--collapse-key", self.collapseKey != nil), ("--time-to-live", self.timeToLive != nil),
            ("--package", self.package != nil), ("--notification", !self.notification.isEmpty),
        ]
        for (option, isGiven) in google where isGiven { try self.require([.gcm, .fcm], for: option) }
        if self.delayWhileIdle { try self.require([.gcm], for: "--delay-while-idle") }
        if self.gcmDryRun { try self.require([.gcm], for: "--gcm-dry-run") }
        for part in self.networkData where !self.network.isEmpty {
            try self.require([part.network], for: "--network-data")
        }
    }

    /// Refuses an option for networks of which none is named.
    func require(_ networks: [PushMessage.Network], for option: String) throws {
        guard !self.network.contains(where: networks.contains) else { return }
        let names = networks.map { "'--network \($0.rawValue)'" }.joined(separator: " or ")
        throw ValidationError("'\(option)' needs \(names)")
    }

    /// Adds and removes the parts of the networks.
    func apply(to message: inout PushMessage) {
        let named = Set(self.network)
        let own = Dictionary(self.networkData.map { ($0.network, $0.data) }) { $1 }
        let isWanted = { (network: PushMessage.Network, isThere: Bool) in
            own[network] != nil || (named.isEmpty ? isThere : named.contains(network))
        }
        message.mqtt =
            isWanted(.mqtt, message.mqtt != nil || message.data != nil) ? message.mqtt ?? .init() : Optional.none
        message.apns = isWanted(.apns, message.apns != nil) ? message.apns ?? .init() : Optional.none
        message.jpush = isWanted(.jpush, message.jpush != nil) ? message.jpush ?? .init() : Optional.none
        message.gcm = isWanted(.gcm, message.gcm != nil) ? message.gcm ?? .init() : Optional.none
        message.fcm = isWanted(.fcm, message.fcm != nil) ? message.fcm ?? .init() : Optional.none
        for (network, data) in own {
            switch network {
            case .mqtt: message.mqtt?.data = data
            case .gcm: message.gcm?.data = data
            case .fcm: message.fcm?.data = data
            case .apns: message.apns?.data = data
            case .jpush: message.jpush?.data = data
            }
        }
        self.applyGoogle(to: &message)
    }

    private func applyGoogle(to message: inout PushMessage) {
        for part in self.notification {
            let (gcm, fcm) = (message.gcm?.notification, message.fcm?.notification)
            message.gcm?.notification = part.applied(to: gcm)
            message.fcm?.notification = part.applied(to: fcm)
        }
        if let collapseKey {
            message.gcm?.collapseKey = collapseKey
            message.fcm?.collapseKey = collapseKey
        }
        if let timeToLive = self.timeToLive?.duration {
            message.gcm?.timeToLive = timeToLive
            message.fcm?.timeToLive = timeToLive
        }
        if let package {
            message.gcm?.restrictedPackageName = package
            message.fcm?.restrictedPackageName = package
        }
        if self.delayWhileIdle { message.gcm?.delayWhileIdle = true }
        if self.gcmDryRun { message.gcm?.dryRun = true }
    }
}

/// A network by the name of its part of a message.
extension PushMessage.Network: ExpressibleByArgument {}

/// `--network-data`.
struct NetworkData: ExpressibleByArgument {
    let network: PushMessage.Network
    let data: JSONValue

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let network = PushMessage.Network(rawValue: parts[0]),
            let data = try? JSONValue(parsing: parts[1]), data.kind == .object, data.duplicateKeys.isEmpty
        else { return nil }
        self.network = network
        self.data = data
    }

    static var expectation: String { "a network and a JSON object, such as gcm={\"msg\":\"hi\"}, with each key once" }
}

/// `--notification`.
struct NotificationPart: ExpressibleByArgument {
    private let keyPath: any WritableKeyPath<PushMessage.AndroidNotification, String?> & Sendable
    private let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "title": self.keyPath = \.title
        case "body": self.keyPath = \.body
        case "icon": self.keyPath = \.icon
        case "sound": self.keyPath = \.sound
        case "tag": self.keyPath = \.tag
        case "color": self.keyPath = \.color
        case "clickAction": self.keyPath = \.clickAction
        default: return nil
        }
        self.text = parts[1]
    }

    static var expectation: String { "title, body, icon, sound, tag, color or clickAction, such as title=Hi" }

    /// The notification with this part.
    func applied(to notification: PushMessage.AndroidNotification?) -> PushMessage.AndroidNotification {
        var notification = notification ?? PushMessage.AndroidNotification()
        notification[keyPath: self.keyPath] = self.text
        return notification
    }
}
