import KiiPushCore

/// The message of a command line.
enum SentMessage: Sendable {
    /// Made of options: the library checks it before it is sent.
    case typed(PushMessage)
    /// Made of a file, as the caller wrote it: the cloud checks it.
    case body(JSONValue)

    var hasAlert: Bool {
        switch self {
        case .typed(let message): message.apns?.alert != nil
        case .body(let body): body["apns"]?["alert"] != nil
        }
    }

    /// - Throws: ``KiiInputError`` when the cloud would refuse it.
    func call(to destination: PushDestination) throws -> KiiCall<String> {
        switch self {
        case .typed(let message): try .sending(message, to: destination)
        case .body(let body): try .sending(body: body, to: destination)
        }
    }
}

/// The body of the call that sends a message, as JSON in a file of the caller's: `--message`.
///
/// - Source: `application/vnd.kii.SendPushMessageRequest+json`
enum MessageFile {
    /// Members of the body.
    static let members = networks + ["data", "pushMessageType"] + flags
    static let networks = PushMessage.Network.allCases.map(\.rawValue)

    private static let flags = [
        "sendToDevelopment", "sendToProduction", "sendAppID", "sendSender", "sendWhen", "sendOrigin", "sendObjectScope",
        "sendTopicID",
    ]
    /// Networks deliver 4 KiB at most, and a body can have data for each of five.
    private static let maximumBytes = 65_536

    /// Reads the file at `path`, or standard input for `-`.
    ///
    /// - Throws: ``CommandFailure`` with exit 65 and the place of what is no JSON object, has a key twice, would be
    ///   overlooked, or is nested; with exit 66 when the file cannot be read.
    static func read(_ path: String) throws -> JSONValue {
        let name = path == "-" ? "standard input" : path
        let bytes = try InputFile.read(path)
        guard bytes.count <= self.maximumBytes else {
            throw CommandFailure(.badInput, "\(name) is larger than 64 KiB: no network delivers that much")
        }
        let document = try ConfigurationDocument(path: name, bytes: bytes, exit: .badInput)
        if let twice = document.root.duplicateKeys.first {
            throw document.failure(at: twice, "is there more than once", hint: "write each key once")
        }
        let body = document.whole
        try body.requireMembers(self.members)
        try self.requireFlatData(body)
        for network in self.networks { try body[network].map(self.requireFlatData) }
        return document.root
    }

    private static func requireFlatData(_ part: DocumentValue) throws {
        guard let data = part["data"] else { return }
        guard let members = data.json.members else { throw data.failure("must be an object") }
        for member in members where [.object, .array].contains(member.value.kind) {
            throw data.document.failure(
                at: data.pointer.appending(member.key), "must be a string, number or Boolean, since data is flat")
        }
    }
}
