package import KiiPushCore

/// The user's format for each message. `%{name}`, or `%` and a letter, stands for a field of the message.
package struct MessageFormat: ExpressibleByArgument, Sendable {
    private struct Field: Sendable {
        var name: String
        var letter: Character?
        var meaning: String
        var text: @Sendable (Line) -> String?

        var placeholders: String { "%{\(self.name)}" + (self.letter.map { " %\($0)" } ?? "") }

        static let all = [
            Field("time", "I", "The time of day when the handler was called; with --since, when it was received.") {
                $0.time.localClock
            },
            Field("received", nil, "When it was received: RFC 3339, UTC.") { $0.context.receivedAt.description },
            Field("unix", "U", "When it was received, in nanoseconds since 1970.") {
                String($0.context.receivedAt.millisecondsSinceEpoch * 1_000_000)
            },
            Field("id", "i", "Its number in the inbox.") { String($0.context.messageID) },
            Field("attempt", "a", "1 for the first attempt, 2 for the first retry.") { String($0.context.attempt) },
            Field("kind", "k", "push-to-app, push-to-user or direct-push.") { $0.message.kind.text },
            Field("topic", "t", "The topic it comes from, such as user:ID/todo; else nothing.") {
                $0.message.sourceTopic?.spelling
            },
            Field("bucket", nil, "The bucket it comes from; else nothing.") { $0.message.sourceBucket?.spelling },
            Field("sender", nil, "user:ID, thing:ID or admin; else nothing.") { $0.message.sender?.text },
            Field("title", "T", "The title of its alert; else nothing.") { $0.message.content?.alert?.title },
            Field("alert", nil, "The text of its alert; else nothing.") { $0.message.content?.alert?.body },
            Field("payload", "p", "The payload as it came.") {
                String(decoding: $0.message.payloadBytes, as: UTF8.self)
            },
            Field("hex", "x", "The payload in hexadecimal digits.") { hexadecimal($0.message.payloadBytes) },
            Field("json", "j", "What --json prints of the message.") { Console.line($0.message, $0.context) },
            Field("length", "l", "The payload's length in bytes.") { String($0.message.payloadBytes.count) },
            Field("result", "r", "What became of it: newData, noData, failed or dead. The line then waits for that.") {
                $0.result
            },
        ]

        private init(
            _ name: String, _ letter: Character?, _ meaning: String, _ text: @escaping @Sendable (Line) -> String?
        ) {
            (self.name, self.letter) = (name, letter)
            (self.meaning, self.text) = (meaning, text)
        }
    }

    package struct Line {
        var message: ReceivedMessage
        var context: DeliveryContext
        var time: Timestamp
        var result: String

        package init(message: ReceivedMessage, context: DeliveryContext, time: Timestamp, result: String = "") {
            self.message = message
            self.context = context
            self.time = time
            self.result = result
        }
    }

    package static func help(_ width: Int) -> String {
        page(
            "What 'kii-push listen -F FORMAT' prints of each message: FORMAT with these replaced.",
            Field.all.map { ($0.placeholders, $0.meaning) },
            "Also %% for a percent sign, and \\n, \\t, \\0, \\e and \\\\. On a terminal, what comes from outside is made "
                + "harmless. Nothing is added at the end: most formats end in \\n.", width: width)
            + "\n  kii-push listen -F '%{time} %{kind} %{topic} %{alert}\\n'"
            + "\n  kii-push listen -F '%{payload}\\0' | xargs -0 -n1 ./on-push\n"
    }

    private enum Piece {
        case text(String)
        case field(Field)
    }

    private let pieces: [Piece]

    package var wantsResult: Bool {
        self.pieces.contains { if case .field(let field) = $0 { field.name == "result" } else { false } }
    }

    package static var expectation: String { "a format such as '%{time} %k %t' ('kii-push help formatting')" }

    package init?(argument: String) {
        let read = Self.pieces(of: argument)
        guard read.unknown == nil else { return nil }
        self.pieces = read.pieces
    }

    package static func problem(with argument: String) -> String {
        let unknown = Self.pieces(of: argument).unknown ?? argument[...]
        return "there is no '\(unknown)'; expected \(Self.expectation)"
    }

    private static func pieces(of argument: String) -> (pieces: [Piece], unknown: Substring?) {
        let escapes: [Character: Character] = ["n": "\n", "t": "\t", "0": "\0", "e": "\u{1b}", "\\": "\\"]
        var (pieces, text, rest) = ([Piece](), "", Substring(argument))
        while let character = rest.first {
            let part = Self.part(rest)
            rest = rest[part.endIndex...]
            switch character {
            case "%" where part == "%%": text.append("%")
            case "%":
                guard let field = Self.field(part) else { return ([], part) }
                pieces += [.text(text), .field(field)]
                text = ""
            case "\\":
                guard let escaped = part.dropFirst().first.flatMap({ escapes[$0] }) else {
                    return ([], part)
                }
                text.append(escaped)
            default: text.append(character)
            }
        }
        return (pieces + [.text(text)], nil)
    }

    private static func part(_ rest: Substring) -> Substring {
        guard rest.first == "%" || rest.first == "\\" else { return rest.prefix(1) }
        guard rest.hasPrefix("%{") else { return rest.prefix(2) }
        return rest.firstIndex(of: "}").map { rest[...$0] } ?? rest
    }

    private static func field(_ part: Substring) -> Field? {
        guard part.hasPrefix("%{") else {
            return Field.all.first { $0.letter != nil && $0.letter == part.dropFirst().first }
        }
        return Field.all.first { "%{\($0.name)}" == part }
    }

    /// - Parameter isSafe: whether to escape texts of senders for a terminal.
    func bytes(of line: Line, isSafe: Bool) -> [UInt8] {
        self.pieces.flatMap { piece in
            switch piece {
            case .text(let text): return Array(text.utf8)
            // The payload's own bytes, not converted to a string.
            case .field(let field) where field.name == "payload" && !isSafe: return Array(line.message.payloadBytes)
            case .field(let field):
                let value = field.text(line) ?? ""
                return Array((isSafe ? value.escapingTerminalControls : value).utf8)
            }
        }
    }
}
