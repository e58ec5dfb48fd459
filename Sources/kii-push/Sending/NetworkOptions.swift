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

    var isGiven: Bool { !self.network.isEmpty || !self.networkData.isEmpty }

    func validate() throws {
        let given = self.given
        for option in ["collapse-key", "time-to-live", "package", "notification"] where given.contains(option) {
            try self.require([.gcm, .fcm], for: option)
        }
        if self.delayWhileIdle { try self.require([.gcm], for: "delay-while-idle") }
        if self.gcmDryRun { try self.require([.gcm], for: "gcm-dry-run") }
        for part in self.networkData where !self.network.isEmpty {
            try self.require([part.network], for: "network-data")
        }
    }

    /// Refuses an option for networks of which none is named.
    func require(_ networks: [PushMessage.Network], for option: String) throws {
        guard !self.network.contains(where: networks.contains) else { return }
        let names = networks.map { "'--network \($0.rawValue)'" }.joined(separator: " or ")
        throw ValidationError("'--\(option)' needs \(names)")
    }

    func apply(to message: inout PushMessage) {
        let own = Dictionary(self.networkData.map { ($0.network, $0.data) }) { $1 }
        func choose<Part>(
            _ network: PushMessage.Network, _ part: inout Part?, _ new: Part, _ data: WritableKeyPath<Part, JSONValue?>
        ) {
            let isWanted = self.network.isEmpty ? part != nil : self.network.contains(network)
            part = isWanted || own[network] != nil ? part ?? new : nil
            if let ownData = own[network] { part?[keyPath: data] = ownData }
        }
        if message.data != nil { message.mqtt = message.mqtt ?? .init() }
        choose(.mqtt, &message.mqtt, .init(), \.data)
        choose(.gcm, &message.gcm, .init(), \.data)
        choose(.fcm, &message.fcm, .init(), \.data)
        choose(.apns, &message.apns, .init(), \.data)
        choose(.jpush, &message.jpush, .init(), \.data)
        message.gcm = self.appliedToAndroid(message.gcm)
        message.fcm = self.appliedToAndroid(message.fcm)
        if self.delayWhileIdle { message.gcm?.delayWhileIdle = true }
        if self.gcmDryRun { message.gcm?.dryRun = true }
    }

    private func appliedToAndroid(_ part: PushMessage.AndroidPart?) -> PushMessage.AndroidPart? {
        guard var part else { return nil }
        for notification in self.notification { part.notification = notification.applied(to: part.notification) }
        part.collapseKey = self.collapseKey ?? part.collapseKey
        part.timeToLive = self.timeToLive?.duration ?? part.timeToLive
        part.restrictedPackageName = self.package ?? part.restrictedPackageName
        return part
    }
}

extension PushMessage.Network: ExpressibleByArgument {}

struct NetworkData: ExpressibleByArgument {
    let network: PushMessage.Network
    let data: JSONValue

    init?(argument: String) {
        guard let (name, text) = argument.halves, let network = PushMessage.Network(rawValue: name),
            let data = try? JSONValue(parsing: text), data.kind == .object, data.duplicateKeys.isEmpty
        else { return nil }
        (self.network, self.data) = (network, data)
    }

    static var expectation: String { "a network and a JSON object, such as gcm={\"msg\":\"hi\"}, with each key once" }
}

struct NotificationPart: ExpressibleByArgument {
    private let keyPath: any WritableKeyPath<PushMessage.AndroidNotification, String?> & Sendable
    private let text: String

    init?(argument: String) {
        let keyPaths: [String: any WritableKeyPath<PushMessage.AndroidNotification, String?> & Sendable] = [
            "title": \.title, "body": \.body, "icon": \.icon, "sound": \.sound, "tag": \.tag, "color": \.color,
            "clickAction": \.clickAction,
        ]
        guard let (name, text) = argument.halves, let keyPath = keyPaths[name] else { return nil }
        (self.keyPath, self.text) = (keyPath, text)
    }

    static var expectation: String { "title, body, icon, sound, tag, color or clickAction, such as title=Hi" }

    func applied(to notification: PushMessage.AndroidNotification?) -> PushMessage.AndroidNotification {
        var notification = notification ?? PushMessage.AndroidNotification()
        notification[keyPath: self.keyPath] = self.text
        return notification
    }
}
