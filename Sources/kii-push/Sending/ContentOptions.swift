import KiiPushCommandLine
import KiiPushCore

struct ContentOptions: ParsableArguments {
    static let wholeMessage =
        "A message with data goes out over MQTT, and one with an alert, a title, a sound, a badge, a category or --wake over "
        + "APNs too. Everything else is said by --message: a file with the body of the call as Kii's REST API has it, such "
        + "as {\"data\":{\"msg\":\"hi\"},\"sendWhen\":true,\"mqtt\":{\"enabled\":true}}. --dry-run "
        + "shows the body of other options, to begin with."

    @OptionGroup(title: "Message") var data: DataOptions

    @Option(value: "NAME", help: "Begin with a built-in example ('kii-push send fixtures').")
    var fixture: MessageFixture?

    @Option(
        value: "POINTER=VALUE",
        help:
            "Set a member of the data, named by a JSON Pointer (RFC 6901): /msg=hi. A VALUE that is no JSON is a text. "
            + "May be repeated."
    )
    var set: [DataChange] = []

    @Option(value: "TEXT", help: "A type of your own; receivers see it as the message's type.") var type: String?
    @OptionGroup(title: "Message") var alert: AlertOptions

    @Option(
        value: "FILE",
        help: "Send this whole body of the call, in place of all of these; '-' reads it from standard input.",
        completion: .file)
    var message: String?

    func validate() throws {
        let given = self.given
        if self.message != nil {
            guard let other = given.first(where: { $0 != "message" }) else { return }
            throw CommandFailure(
                .usage, "'--message' and '--\(other)' exclude each other: the file is the whole message")
        }
        if self.fixture != nil, self.data.isGiven {
            throw CommandFailure(.usage, "'--fixture' excludes '--data' and '--data-file'")
        }
        guard given.contains(where: { $0 != "type" }) else {
            throw CommandFailure(
                .usage,
                "give the data with '--data', '--data-file', '--fixture' or '--set', an alert with '--alert', or the whole "
                    + "message with '--message'")
        }
    }

    func check(written: Set<String> = []) throws {
        let own: Set = self.type == nil ? ["sourceURI", "senderURI"] : ["sourceURI", "senderURI", "type"]
        let rule = DataChangeRule.message(written: own.union(written))
        for change in self.set { try rule.check(change) }
    }

    /// The message from the options and the files that they name. Uses no network.
    ///
    /// - Throws: ``CommandFailure`` for wrong data, a wrong body or impossible changes; ``KiiInputError`` for a null in
    ///   the data.
    func assembled() throws -> SentMessage {
        if let file = self.message { return .body(try MessageFile.read(file)) }
        var message = self.fixture?.message ?? PushMessage(mqtt: nil)
        if let data = try self.data.given() { message.data = data }
        if !self.set.isEmpty { message.data = try self.set.applied(to: message.data ?? [:]) }
        if let key = message.data?.members?.first(where: \.value.isNull)?.key {
            let pointer = JSONPointer(tokens: ["data", key])
            throw KiiInputError(.message, at: pointer, rule: "a string, number or Boolean, not null")
        }
        message.pushMessageType = self.type ?? message.pushMessageType
        message.apns = self.alert.applied(to: message.apns)
        if message.data != nil { message.mqtt = message.mqtt ?? .init() }
        return .typed(message)
    }
}

/// The options for the part of a message for Apple's devices. Installations with Apple's payloads get it too.
struct AlertOptions: ParsableArguments {
    @Option(value: "TEXT", help: "Show this to the user of a device with Apple's payloads.") var alert: String?
    @Option(value: "TEXT", help: "The title above the alert.") var title: String?
    @Option(value: "NAME", help: "Play this sound; 'default' is the usual one.") var sound: String?
    @Option(value: "N", help: "Set the number on the program's icon; 0 takes it away.") var badge: Int?
    @Option(value: "NAME", help: "Offer the actions of this category.") var category: String?
    @Flag(help: "Have the program called although it is in the background (content-available).") var wake = false

    func applied(to part: PushMessage.APNS?) -> PushMessage.APNS? {
        guard !self.given.isEmpty else { return part }
        var apns = part ?? PushMessage.APNS()
        if self.alert != nil || self.title != nil { apns.alert = apns.alert ?? PushMessage.Alert() }
        if let alert { apns.alert?.body = alert }
        if let title { apns.alert?.title = title }
        apns.sound = self.sound ?? apns.sound
        apns.badge = self.badge ?? apns.badge
        apns.category = self.category ?? apns.category
        if self.wake { apns.contentAvailable = true }
        return apns
    }
}

extension [DataChange] {
    func applied(to data: JSONValue) throws -> JSONValue {
        let changed = try self.reduce(data) { data, change in try change.applied(to: data) }
        try DataOptions.checkKeys(of: changed)
        return changed
    }
}
