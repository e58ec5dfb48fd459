import KiiPushCommandLine
import KiiPushCore

enum SentMessage: Sendable {
    /// Made from options. The library checks the message before sending.
    case typed(PushMessage)
    /// Read and partly checked by ``MessageFile``. The library does not check it.
    case body(JSONValue)

    var hasAlert: Bool {
        switch self {
        case .typed(let message): message.apns?.alert != nil
        case .body(let body): body["apns"]?["alert"] != nil
        }
    }

    /// - Throws: ``KiiInputError`` if the library finds that the cloud would refuse the call.
    func call(to destination: PushDestination) throws -> KiiCall<String> {
        switch self {
        case .typed(let message): try .sending(message, to: destination)
        case .body(let body): try .sending(body: body, to: destination)
        }
    }
}

/// The body of the call that sends a message, from the user's file (`--message`).
///
/// - Source: `application/vnd.kii.SendPushMessageRequest+json`
enum MessageFile {
    static let members = networks + ["data", "pushMessageType"] + flags
    static let networks = ["mqtt", "gcm", "fcm", "apns", "jpush"]

    private static let flags = [
        "sendToDevelopment", "sendToProduction", "sendAppID", "sendSender", "sendWhen", "sendOrigin", "sendObjectScope",
        "sendTopicID",
    ]
    /// 64 KiB: the networks deliver 4 KiB at most, and a body can have data for each of five networks.
    private static let maximumBytes = 65_536

    /// - Parameter path: `-` for standard input.
    /// - Throws: ``CommandFailure`` with exit 65 if the text is too large or no JSON object, or has a duplicate or
    ///   unknown key or nested data; with exit 66 if the file cannot be read.
    static func read(_ path: String) throws -> JSONValue {
        let name = path == "-" ? "standard input" : path
        let bytes = try InputFile.read(path)
        guard bytes.count <= self.maximumBytes else {
            throw CommandFailure(.badInput, "\(name) is larger than 64 KiB: no network delivers that much")
        }
        do throws(JSONMemberError) {
            let body = try JSONDocument(strict: bytes).object(self.members)
            try self.requireFlatData(body)
            for network in self.networks {
                if let part = body[network] { try self.requireFlatData(part) }
            }
            return body.value
        } catch {
            throw CommandFailure(.badInput, error, in: name)
        }
    }

    private static func requireFlatData(_ part: JSONDocument) throws(JSONMemberError) {
        guard let data = try part["data"]?.object() else { return }
        for (key, value) in data.value.pairs where [.object, .array].contains(value.kind) {
            throw data.failure("must be a string, number or Boolean, since data is flat", at: key)
        }
    }
}
