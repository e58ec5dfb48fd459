package import KiiPushCore

/// Formats a message for people. Texts of senders are escaped for a terminal.
struct MessageText {
    private let message: ReceivedMessage

    init(_ message: ReceivedMessage) { self.message = message }

    var facts: [(String, String)] {
        let rows: [(String, String?)] = [
            ("event", self.text(of: .type)),
            ("topic", self.topic),
            ("bucket", self.bucket),
            ("object", self.text(of: .objectID)),
            ("scope", self.scope),
            ("sender", self.message.sender?.text.terminalSafe),
            ("origin", self.text(of: .origin)),
            ("when", self.message.when?.description),
            ("modified", self.message.modifiedAt?.description),
            ("app", self.message.appID?.terminalSafe),
            ("source", self.message.sourceURI?.description.terminalSafe),
        ]
        return rows.compactMap { label, value in value.map { (label, $0) } }
    }

    /// The source of the message in one word: `topic=alerts`, `bucket=user:u1/notes`, or `from=admin`; empty if
    /// unknown.
    var source: String {
        if let topic = self.message.sourceTopic { return "topic=\(topic.spelling.terminalSafe)" }
        if let bucket = self.message.sourceBucket { return "bucket=\(bucket.spelling.terminalSafe)" }
        return self.message.sender.map { "from=\($0.text.terminalSafe)" } ?? ""
    }

    var summary: String {
        var parts: [String] = []
        if let alert = self.message.content?.alert {
            parts += [alert.title, alert.subtitle, alert.body].compactMap { $0 }.map { Self.quoted($0) }
        }
        if case .set(let number)? = self.message.content?.badge { parts.append("badge=\(number)") }
        if self.message.content?.isContentAvailable ?? false { parts.append("content-available") }
        if let type = self.text(of: .type) { parts.append(type) }
        if let object = self.message.sourceObject { parts.append("object=\(object.id.terminalSafe)") }
        parts += self.message.customMembers.map { "\($0.key.terminalSafe)=\($0.value.terminalText)" }
        return parts.joined(separator: " ")
    }

    var findings: [String] { self.message.findings.map(\.description.terminalSafe) }

    private var topic: String? {
        if let topic = self.message.sourceTopic { return topic.spelling.terminalSafe }
        return self.text(of: .topic).map { $0 + self.scopeNote }
    }

    private var bucket: String? {
        let type = self.text(of: .bucketType).map { " (\($0))" } ?? ""
        if let bucket = self.message.sourceBucket { return bucket.spelling.terminalSafe + type }
        return self.text(of: .bucketID).map { $0 + type + self.scopeNote }
    }

    private var scopeNote: String {
        self.text(of: .scopeType) == nil ? " (no scope: source unknown)" : " (no usable scope: source unknown)"
    }

    private func text(of field: MessageField) -> String? {
        guard let text = self.message.value(of: field), !text.isEmpty else { return nil }
        return text.terminalSafe
    }

    private var scope: String? {
        guard self.message.sourceTopic == nil, self.message.sourceBucket == nil else { return nil }
        return self.message.scope?.text.terminalSafe ?? self.text(of: .scopeType)
    }

    private static func quoted(_ text: String) -> String { JSONValue(text).terminalText }
}

extension JSONValue {
    /// The value as JSON that cannot control a terminal: control and direction characters are escaped too.
    package var terminalText: String { self.text.escapingTerminalControls }
}

extension ReceivedMessage.Kind {
    package var text: String { self.name.kebabCase }
}

extension MessageSender {
    package var text: String {
        switch self {
        case .user(let id): "user:\(id)"
        case .thing(let id): "thing:\(id)"
        case .admin: "admin"
        case .other(let address): address
        }
    }
}
