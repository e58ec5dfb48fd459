import KiiPushCore

/// What `--json` prints: every kind of line with every member that it may have. The schema for programs and the page of
/// help are made of it, and a test holds real output against it.
struct OutputLine: Sendable {
    let type: String
    let meaning: String
    /// Beside `v` and `type`.
    let members: [OutputMember]

    init(_ type: String, _ meaning: String, _ members: OutputMembers...) {
        (self.type, self.meaning) = (type, meaning)
        self.members = members.flatMap(\.all)
    }
}

/// A member of a line, or of an object in it; required where every such object has it.
typealias OutputMember = (name: String, shape: OutputShape, isRequired: Bool)

/// Members in their order: `["id": .integer, "reason?": .text]`. One with a question mark behind its name is there where it
/// makes sense, the others always.
struct OutputMembers: ExpressibleByDictionaryLiteral, Sendable {
    private let named: [(String, OutputShape)]

    init(_ named: [(String, OutputShape)]) { self.named = named }

    init(dictionaryLiteral elements: (String, OutputShape)...) { self.init(elements) }

    static func + (left: Self, right: Self) -> Self { Self(left.named + right.named) }

    var all: [OutputMember] {
        self.named.map { name, shape in
            let isRequired = !name.hasSuffix("?")
            return (isRequired ? name : String(name.dropLast()), shape, isRequired)
        }
    }
}

indirect enum OutputShape: Sendable {
    case text
    case word([String])
    /// RFC 3339, UTC.
    case time
    case integer
    case flag
    case texts
    case object(OutputMembers)
    case list(OutputMembers)
    /// What somebody else decides, such as a payload.
    case any

    /// The members of the object, or of each object of the list.
    var members: [OutputMember] {
        switch self {
        case .object(let members), .list(let members): members.all
        case .text, .word, .time, .integer, .flag, .texts, .any: []
        }
    }
}

enum OutputSchema {
    static var document: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A line that kii-push prints with --json",
            "description": "Members may be added; those that exist do not change while v stays 1.",
            "oneOf": JSONValue(OutputLine.all.map { ["$ref": JSONValue("#/$defs/\($0.type)")] }),
            "$defs": .object(OutputLine.all.map { ($0.type, Self.schema(of: $0)) }),
        ]
    }

    private static func schema(of line: OutputLine) -> JSONValue {
        let head: [(String, JSONValue)] = [("v", ["const": 1]), ("type", ["const": JSONValue(line.type)])]
        return .object(
            [("description", JSONValue(line.meaning))]
                + self.object(line.members, head: head, required: ["v", "type"]))
    }

    private static func object(
        _ members: [OutputMember], head: [(String, JSONValue)] = [], required: [String] = []
    ) -> [(String, JSONValue)] {
        [
            ("type", "object"),
            ("required", (required + members.filter(\.isRequired).map(\.name)).json),
            ("properties", .object(head + members.map { ($0.name, self.schema(of: $0.shape)) })),
        ]
    }

    private static func schema(of shape: OutputShape) -> JSONValue {
        switch shape {
        case .text: ["type": "string"]
        case .word(let words): ["enum": words.json]
        case .time: ["type": "string", "format": "date-time"]
        case .integer: ["type": "integer"]
        case .flag: ["type": "boolean"]
        case .texts: ["type": "array", "items": ["type": "string"]]
        case .object: .object(self.object(shape.members))
        case .list: ["type": "array", "items": .object(self.object(shape.members))]
        case .any: [:]
        }
    }
}

/// The same for people: `kii-push help json`.
extension OutputSchema {
    static func help(_ width: Int) -> String {
        HelpTopic.page(
            "What --json prints: one object a line, each with \"v\": 1 and \"type\". Members may be added; those that exist do "
                + "not change while \"v\" stays 1. Times are RFC 3339 in UTC, durations end in _ms. The members in [] are "
                + "there where they make sense. 'kii-push help json --schema' prints the JSON Schema of the lines.",
            OutputLine.all.map { ($0.type, "\($0.meaning): \(self.text(of: $0.members))") },
            "Lines of the types error and service go to standard error, recorded ones to the file of --record, all others "
                + "to standard output. \"in_doubt\": true tells that it may have been done all the same, and would be done "
                + "twice by the same command.",
            width: width)
    }

    /// - Parameter isNested: whether the words that a member may be are left out, for the sake of the page.
    private static func text(of members: [OutputMember], isNested: Bool = false) -> String {
        members.map { member in
            var inner = member.shape.members.isEmpty ? "" : self.text(of: member.shape.members, isNested: true)
            if case .word(let words) = member.shape, !isNested { inner = words.joined(separator: ", ") }
            let text = member.name + (inner.isEmpty ? "" : " (\(inner))")
            return member.isRequired ? text : "[\(text)]"
        }.joined(separator: ", ")
    }
}
