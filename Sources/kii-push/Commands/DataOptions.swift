import KiiPushCore

/// The JSON object that is sent: in the command line, from a file, or from standard input.
struct DataOptions: ParsableArguments {
    @Option(name: .shortAndLong, value: "JSON", help: "A JSON object; '-' reads it from standard input.")
    var data: String?

    @Option(
        name: .shortAndCustomLong("f", "data-file"), value: "FILE", help: "A file with the JSON object.",
        completion: .file)
    var file: String?

    func validate() throws {
        if self.data != nil, self.file != nil {
            throw ValidationError("'--data' and '--data-file' exclude each other")
        }
    }

    /// Whether there is an object at all.
    var isGiven: Bool { self.data != nil || self.file != nil }

    /// The object, if there is one.
    ///
    /// - Throws: as ``value()``.
    func given() throws -> JSONValue? {
        guard self.isGiven else { return Optional.none }
        return try self.value()
    }

    /// Reads and checks the object. Touches no network.
    ///
    /// - Throws: ``CommandFailure`` with exit 65 when it is no JSON object or has a key twice, of which a receiver would
    ///   see one only; with exit 66 when the file cannot be read.
    func value() throws -> JSONValue {
        let bytes =
            if let file = self.file { try InputFile.read(file) } else { try self.dataBytes() }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw CommandFailure(.badInput, "the data is \(error)")
        }
        guard value.kind == .object else {
            throw CommandFailure(.badInput, "the data is no JSON object", hint: #"write it as {"key":"value"}"#)
        }
        if let key = value.duplicateKeys.first {
            throw CommandFailure(.badInput, "the data has the key \(key) more than once", hint: "write each key once")
        }
        return value
    }

    private func dataBytes() throws -> [UInt8] {
        guard let data = self.data, data != "-" else { return try InputFile.read("-") }
        return Array(data.utf8)
    }
}

/// What goes along with a message that is sent.
struct MessageOptions: ParsableArguments {
    @Option(value: "TEXT", help: "A type of your own; receivers see it as the message's type.")
    var type: String?

    @Flag(help: "Tell receivers when it was sent.")
    var when = false

    /// - Throws: ``KiiInputError`` when a member is null: refused like a nested value, before anything is sent.
    func message(_ data: JSONValue?, _ apns: PushMessage.APNS?) throws -> PushMessage {
        if let key = data?.members?.first(where: \.value.isNull)?.key {
            let pointer = JSONPointer(tokens: ["data", key])
            throw KiiInputError(.message, at: pointer, rule: "a string, number or Boolean, not null")
        }
        // Over MQTT there is nothing without data.
        var message = PushMessage(data: data, mqtt: data == nil ? nil : .init())
        message.pushMessageType = self.type
        message.sendWhen = self.when ? true : nil
        message.apns = apns
        return message
    }
}

/// The part of a message that is for Apple's devices, and for installations with their payloads.
struct AlertOptions: ParsableArguments {
    @Option(value: "TEXT", help: "Show this to the user.")
    var alert: String?

    @Option(value: "TEXT", help: "The title above the alert.")
    var title: String?

    @Option(value: "NAME", help: "Play this sound; 'default' is the usual one.")
    var sound: String?

    @Option(value: "N", help: "Set the number on the program's icon; 0 takes it away.")
    var badge: WholeNumber?

    @Option(value: "NAME", help: "Offer the actions of this category.")
    var category: String?

    @Flag(help: "Have the program called although it is in the background (content-available).")
    var wake = false

    /// `nil` where nothing is asked for.
    var apns: PushMessage.APNS? {
        let isSilent = self.alert == nil && self.title == nil
        var apns = PushMessage.APNS(alert: isSilent ? nil : .init(title: self.title, body: self.alert))
        apns.sound = self.sound
        apns.badge = self.badge?.value
        apns.category = self.category
        apns.contentAvailable = self.wake ? true : nil
        return apns == PushMessage.APNS() ? nil : apns
    }
}
