extension PushMessage {
    /// The message as it goes over the wire.
    public var json: JSONValue {
        var fields = WireObject()
        fields["data"] = self.data
        fields["pushMessageType"] = self.pushMessageType.map { JSONValue($0) }
        let flags = [
            ("sendToDevelopment", self.sendToDevelopment), ("sendToProduction", self.sendToProduction),
            ("sendAppID", self.sendAppID), ("sendSender", self.sendSender), ("sendWhen", self.sendWhen),
            ("sendOrigin", self.sendOrigin), ("sendObjectScope", self.sendObjectScope),
            ("sendTopicID", self.sendTopicID),
        ]
        for (name, flag) in flags { fields[name] = flag.map { JSONValue($0) } }
        fields["mqtt"] = self.mqtt.map { WireObject(isEnabled: $0.isEnabled, data: $0.data).json }
        fields["gcm"] = self.gcm?.json
        fields["fcm"] = self.fcm?.json
        fields["apns"] = self.apns?.json
        fields["jpush"] = self.jpush.map { WireObject(isEnabled: $0.isEnabled, data: $0.data).json }
        return fields.json
    }
}

extension PushMessage.GCM {
    fileprivate var json: JSONValue {
        var fields = WireObject(isEnabled: self.isEnabled, data: self.data)
        fields["notification"] = self.notification?.json
        fields["collapseKey"] = self.collapseKey.map { JSONValue($0) }
        fields["delayWhileIdle"] = self.delayWhileIdle.map { JSONValue($0) }
        fields["timeToLive"] = self.timeToLive.map { JSONValue($0.components.seconds) }
        fields["restrictedPackageName"] = self.restrictedPackageName.map { JSONValue($0) }
        fields["dryRun"] = self.dryRun.map { JSONValue($0) }
        return fields.json
    }
}

extension PushMessage.FCM {
    fileprivate var json: JSONValue {
        var fields = WireObject(isEnabled: self.isEnabled, data: self.data)
        fields["notification"] = self.notification?.json
        fields["collapseKey"] = self.collapseKey.map { JSONValue($0) }
        fields["timeToLive"] = self.timeToLive.map { JSONValue($0.components.seconds) }
        fields["restrictedPackageName"] = self.restrictedPackageName.map { JSONValue($0) }
        return fields.json
    }
}

extension PushMessage.AndroidNotification {
    var json: JSONValue {
        var fields = WireObject()
        fields["title"] = self.title.map { JSONValue($0) }
        fields["body"] = self.body.map { JSONValue($0) }
        fields["icon"] = self.icon.map { JSONValue($0) }
        fields["sound"] = self.sound.map { JSONValue($0) }
        fields["tag"] = self.tag.map { JSONValue($0) }
        fields["color"] = self.color.map { JSONValue($0) }
        fields["clickAction"] = self.clickAction.map { JSONValue($0) }
        return fields.json
    }
}

extension PushMessage.APNS {
    fileprivate var json: JSONValue {
        var fields = WireObject(isEnabled: self.isEnabled, data: self.data)
        fields["alert"] = self.alert?.json
        fields["sound"] = self.sound.map { JSONValue($0) }
        fields["badge"] = self.badge.map { JSONValue($0) }
        fields["contentAvailable"] = self.contentAvailable.map { JSONValue($0) }
        fields["mutableContent"] = self.mutableContent.map { JSONValue($0) }
        fields["category"] = self.category.map { JSONValue($0) }
        return fields.json
    }
}

extension PushMessage.Alert {
    var json: JSONValue {
        var fields = WireObject()
        fields["title"] = self.title.map { JSONValue($0) }
        fields["subtitle"] = self.subtitle.map { JSONValue($0) }
        fields["body"] = self.body.map { JSONValue($0) }
        fields["actionLocKey"] = self.actionLocKey.map { JSONValue($0) }
        fields["locKey"] = self.locKey.map { JSONValue($0) }
        fields["locArgs"] = self.locArgs.map { arguments in JSONValue(arguments.map { JSONValue($0) }) }
        fields["launchImage"] = self.launchImage.map { JSONValue($0) }
        return fields.json
    }
}

/// An object under construction, whose members keep the order in which they were set.
private struct WireObject {
    private var members: [(String, JSONValue)] = []

    init() {}

    init(isEnabled: Bool, data: JSONValue?) {
        self["enabled"] = JSONValue(isEnabled)
        self["data"] = data
    }

    /// Adds a member; `nil` adds none.
    subscript(key: String) -> JSONValue? {
        get { self.members.last { $0.0 == key }?.1 }
        set { if let newValue { self.members.append((key, newValue)) } }
    }

    var json: JSONValue { .object(self.members) }
}
