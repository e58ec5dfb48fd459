import KiiPushCore

/// What goes along with a message that is sent.
struct MessageOptions: ParsableArguments {
    @Option(value: "TEXT", help: "A type of your own; receivers see it as the message's type.") var type: String?
    @Flag(help: "Tell receivers when it was sent.") var when = false
    @Flag(help: "Tell receivers that somebody sent it (origin EXPLICIT).") var sendOrigin = false
    @Flag(name: .customLong("send-app-id"), help: "Tell receivers the ID of the app.") var sendAppID = false
    @Flag(help: "Do not tell receivers who sent it.") var noSender = false

    @Option(value: "WHICH", help: "Only to installations for development, or for production. Default: to both.")
    var only: InstallationChoice?

    func apply(to message: inout PushMessage) {
        message.pushMessageType = self.type ?? message.pushMessageType
        if self.when { message.sendWhen = true }
        if self.sendOrigin { message.sendOrigin = true }
        if self.sendAppID { message.sendAppID = true }
        if self.noSender { message.sendSender = false }
        switch self.only {
        case .development: message.sendToProduction = false
        case .production: message.sendToDevelopment = false
        case nil: break
        }
    }

    /// The keys that the cloud writes for these options, and what to do instead of setting them.
    var written: [String: String] {
        var written = ["sourceURI": "it names what the message is about"]
        if !self.noSender { written["senderURI"] = "--no-sender leaves it out" }
        if self.type != nil { written["type"] = "--type says what" }
        if self.when { written["when"] = "--when asks for it" }
        if self.sendOrigin { written["origin"] = "--send-origin asks for it" }
        if self.sendAppID { written["appID"] = "--send-app-id asks for it" }
        return written
    }
}

enum InstallationChoice: String, CaseIterable, ExpressibleByArgument { case development, production }

/// What a message to a topic tells of the topic.
struct TopicFieldOptions: ParsableArguments {
    @Flag(help: "Do not tell receivers the topic: they take the message for a direct push.") var noTopic = false
    @Flag(help: "Do not tell receivers the topic's scope.") var noScope = false

    func apply(to message: inout PushMessage) {
        if self.noTopic { message.sendTopicID = false }
        if self.noScope { message.sendObjectScope = false }
    }

    /// As ``MessageOptions/written``.
    var written: [String: String] {
        var written: [String: String] = [:]
        if !self.noTopic { written["topic"] = "--no-topic leaves it out" }
        guard !self.noScope else { return written }
        for key in [
            "objectScopeAppID", "objectScopeType", "objectScopeUserID", "objectScopeGroupID", "objectScopeThingID",
        ] { written[key] = "--no-scope leaves it out" }
        return written
    }
}

/// The part of a message that is for Apple's devices, and for installations with their payloads.
struct AlertOptions: ParsableArguments {
    @Option(value: "TEXT", help: "Show this to the user.") var alert: String?
    @Option(value: "TEXT", help: "The title above the alert.") var title: String?
    @Option(value: "TEXT", help: "The line below the title.") var subtitle: String?
    @Option(value: "KEY", help: "Show the text with this key in the program's own strings.") var locKey: String?
    @Option(value: "TEXT", help: "Put this into that text. May be repeated.") var locArg: [String] = []

    @Option(value: "KEY", help: "The button's text: the one with this key in the program's own strings.")
    var actionLocKey: String?

    @Option(value: "NAME", help: "Show this image while the program starts.") var launchImage: String?
    @Option(value: "NAME", help: "Play this sound; 'default' is the usual one.") var sound: String?
    @Option(value: "N", help: "Set the number on the program's icon; 0 takes it away.") var badge: WholeNumber?
    @Option(value: "NAME", help: "Offer the actions of this category.") var category: String?
    @Flag(help: "Have the program called although it is in the background (content-available).") var wake = false
    @Flag(help: "Let the program change it before it is shown (mutable-content).") var mutable = false

    /// The first of them that is given, without its dashes; `nil` where none is.
    var firstGiven: String? { self.given.first }

    /// The part with these options; `nil` where there was none and nothing is asked for.
    func applied(to part: PushMessage.APNS?) -> PushMessage.APNS? {
        var apns = part ?? PushMessage.APNS()
        var alert = apns.alert ?? PushMessage.Alert()
        alert.body = self.alert ?? alert.body
        alert.title = self.title ?? alert.title
        alert.subtitle = self.subtitle ?? alert.subtitle
        alert.locKey = self.locKey ?? alert.locKey
        alert.locArgs = self.locArg.isEmpty ? alert.locArgs : self.locArg
        alert.actionLocKey = self.actionLocKey ?? alert.actionLocKey
        alert.launchImage = self.launchImage ?? alert.launchImage
        apns.alert = alert == PushMessage.Alert() ? Optional.none : alert
        apns.sound = self.sound ?? apns.sound
        apns.badge = self.badge?.value ?? apns.badge
        apns.category = self.category ?? apns.category
        if self.wake { apns.contentAvailable = true }
        if self.mutable { apns.mutableContent = true }
        return part == nil && apns == PushMessage.APNS() ? Optional.none : apns
    }
}
