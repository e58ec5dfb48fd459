import KiiPushCore

/// A JSON document of the user's, whose mistakes are told with file, line, column and JSON pointer.
struct ConfigurationDocument: Sendable {
    let path: String
    let root: JSONValue
    private let bytes: [UInt8]

    /// - Throws: ``CommandFailure`` with exit 78 when it is not JSON.
    init(path: String, bytes: [UInt8]) throws {
        self.path = path
        self.bytes = bytes
        do {
            self.root = try JSONValue(parsing: bytes)
        } catch {
            // The library's advice is for who sends a payload.
            let isCut = error.code == .unexpectedEnd || error.code == .empty
            throw CommandFailure(
                .configuration,
                "\(Self.place(path, error.byteOffset, bytes)): "
                    + (isCut ? "the file is \(error.code == .empty ? "empty" : "cut short")" : "it is \(error)"),
                hint: isCut ? "restore it, or write it anew: 'kii-push help files' shows its form" : nil)
        }
    }

    /// Where what `pointer` leads to begins: `FILE:LINE:COLUMN`, both from 1. Without it, where the value above begins.
    func place(of pointer: JSONPointer) -> String {
        var pointer = pointer
        while self.root[pointer] == nil, !pointer.tokens.isEmpty { pointer.tokens.removeLast() }
        return Self.place(self.path, self.root[pointer]?.byteOffset ?? 0, self.bytes)
    }

    /// For a setting that was read there.
    func origin(of pointer: JSONPointer) -> SettingOrigin {
        .file(path: self.path, place: self.place(of: pointer), pointer: pointer.description)
    }

    /// What is wrong there.
    func failure(at pointer: JSONPointer, _ what: String, hint: String? = nil) -> CommandFailure {
        let name = pointer.tokens.isEmpty ? "it" : pointer.description
        return CommandFailure(.configuration, "\(self.place(of: pointer)): \(name) \(what)", hint: hint)
    }

    /// A text, or `nil` when it is absent.
    func text(at pointer: JSONPointer) throws -> String? {
        guard let value = self.root[pointer] else { return nil }
        guard let text = value.string else { throw self.failure(at: pointer, "must be a text") }
        return text
    }

    /// Refuses what is no object, and a member that would be overlooked.
    func requireMembers(_ members: [String], of value: JSONValue, at pointer: JSONPointer) throws {
        guard let present = value.members else { throw self.failure(at: pointer, "must be an object") }
        guard let unknown = present.first(where: { !members.contains($0.key) })?.key else { return }
        let guess = suggestion(for: unknown, among: members).map { "; did you mean '\($0)'?" } ?? ""
        throw self.failure(
            at: pointer.appending(unknown), "is unknown\(guess)", hint: "it may be " + members.joined(separator: ", "))
    }

    /// Columns count characters, as editors do.
    private static func place(_ path: String, _ offset: Int, _ bytes: [UInt8]) -> String {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return "\(path):\(line):\(String(decoding: before[start...], as: UTF8.self).count + 1)"
    }
}
