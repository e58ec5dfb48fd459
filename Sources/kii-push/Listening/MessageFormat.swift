import KiiPushCore

/// A line of a person's own for each message: text with `%{name}`, or `%` and a letter, for what is known of it.
struct MessageFormat: ExpressibleByArgument, Sendable {
    /// What a format can name. In help in this order.
    enum Field: String, CaseIterable {
        case time
        case received
        case unix
        case id
        case attempt
        case kind
        case topic
        case bucket
        case sender
        case title
        case alert
        case payload
        case hex
        case json
        case length
        case result

        var letter: Character? {
            switch self {
            case .time: "I"
            case .unix: "U"
            case .id: "i"
            case .attempt: "a"
            case .kind: "k"
            case .topic: "t"
            case .title: "T"
            case .payload: "p"
            case .hex: "x"
            case .json: "j"
            case .length: "l"
            case .result: "r"
            case .received, .bucket, .sender, .alert: nil
            }
        }

        /// How it is written.
        var placeholders: String { "%{\(self.rawValue)}" + (self.letter.map { " %\($0)" } ?? "") }

        /// For help.
        var meaning: String {
            switch self {
            case .time: "The time of day when the handler was called; with --since, when it was received."
            case .received: "When it was received: RFC 3339, UTC."
            case .unix: "When it was received, in nanoseconds since 1970."
            case .id: "Its number in the inbox."
            case .attempt: "1 for the first attempt, 2 for the first retry."
            case .kind: "push-to-app, push-to-user or direct-push."
            case .topic: "The topic it comes from, such as user:ID/todo; else nothing."
            case .bucket: "The bucket it comes from; else nothing."
            case .sender: "user:ID, thing:ID or admin; else nothing."
            case .title: "The title of its alert; else nothing."
            case .alert: "The text of its alert; else nothing."
            case .payload: "The payload as it came."
            case .hex: "The payload in hexadecimal digits."
            case .json: "What --json prints of the message."
            case .length: "The payload's length in bytes."
            case .result: "What became of it: newData, noData, failed or dead. The line then waits for that."
            }
        }
    }

    /// The page about formats.
    static func help(_ width: Int) -> String {
        wrapped("What 'kii-push listen -F FORMAT' prints of each message: FORMAT with these replaced.", width: width)
            + "\n\n" + table(Field.allCases.map { ($0.placeholders, $0.meaning) }, width: width) + "\n\n"
            + wrapped(
                "Also %% for a percent sign, and \\n, \\t, \\0, \\e and \\\\. On a terminal, what comes from outside is made "
                    + "harmless. Nothing is added at the end: most formats end in \\n.", width: width)
            + "\n\n  kii-push listen -F '%{time} %{kind} %{topic} %{alert}\\n'"
            + "\n  kii-push listen -F '%{payload}\\0' | xargs -0 -n1 ./on-push\n"
    }

    private enum Piece: Equatable {
        case text(String)
        case field(Field)
    }

    private let pieces: [Piece]

    /// Whether a line waits for the answer.
    var wantsResult: Bool { self.pieces.contains(.field(.result)) }

    static var expectation: String { "a format such as '%{time} %k %t' ('kii-push help formatting')" }

    init?(argument: String) {
        var pieces: [Piece] = []
        var text = ""
        var rest = Substring(argument)
        while let character = rest.popFirst() {
            switch character {
            case "%":
                guard let field = Self.field(&rest) else { return nil }
                guard case .field = field else {
                    text += "%"
                    continue
                }
                pieces += [.text(text), field]
                text = ""
            case "\\":
                let escapes: [Character: Character] = ["n": "\n", "t": "\t", "0": "\0", "e": "\u{1b}", "\\": "\\"]
                guard let escaped = rest.popFirst().flatMap({ escapes[$0] }) else { return nil }
                text.append(escaped)
            default: text.append(character)
            }
        }
        self.pieces = (pieces + [.text(text)]).filter { $0 != .text("") }
    }

    /// What follows a `%`; the text `%` for a second one.
    private static func field(_ rest: inout Substring) -> Piece? {
        guard let first = rest.popFirst() else { return nil }
        if first == "%" { return .text("%") }
        guard first == "{" else { return Field.allCases.first { $0.letter == first }.map { .field($0) } }
        guard let end = rest.firstIndex(of: "}") else { return nil }
        let name = rest[..<end]
        rest = rest[rest.index(after: end)...]
        return Field(rawValue: String(name)).map { .field($0) }
    }

    /// The line of a message.
    ///
    /// - Parameters:
    ///   - time: when its handler was called.
    ///   - json: what `--json` prints.
    ///   - result: what became of it; empty as long as nothing has.
    ///   - isSafe: whether what comes from outside is made harmless for a terminal.
    func text(
        of message: ReceivedMessage, _ context: DeliveryContext, at time: Timestamp, json: () -> String, result: String,
        isSafe: Bool
    ) -> [UInt8] {
        self.pieces.flatMap { piece in
            switch piece {
            case .text(let text): return Array(text.utf8)
            case .field(.payload):
                return isSafe
                    ? Array(String(decoding: message.payloadBytes, as: UTF8.self).escapingTerminalControls.utf8)
                    : Array(message.payloadBytes)
            case .field(let field):
                let value = Self.value(of: field, message, context, time, json, result) ?? ""
                return Array((isSafe ? value.escapingTerminalControls : value).utf8)
            }
        }
    }

    private static func value(
        of field: Field, _ message: ReceivedMessage, _ context: DeliveryContext, _ time: Timestamp,
        _ json: () -> String, _ result: String
    ) -> String? {
        switch field {
        case .time: time.localClock
        case .received: context.receivedAt.description
        case .unix: String(context.receivedAt.millisecondsSinceEpoch * 1_000_000)
        case .id: String(context.messageID)
        case .attempt: String(context.attempt)
        case .kind: message.kind.text
        case .topic: message.sourceTopic.map { $0.scope.text(of: $0.id) }
        case .bucket: message.sourceBucket.map { $0.scope.text(of: $0.id) }
        case .sender: message.sender?.text
        case .title: message.content?.alert?.title
        case .alert: message.content?.alert?.body
        case .payload: nil
        case .hex: message.payloadBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .json: json()
        case .length: String(message.payloadBytes.count)
        case .result: result
        }
    }
}
