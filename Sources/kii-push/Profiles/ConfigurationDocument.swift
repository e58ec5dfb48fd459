import KiiPushCore

/// A JSON document of the user's, whose mistakes are told with file, line, column and JSON pointer.
struct ConfigurationDocument: Sendable {
    let path: String
    let root: JSONValue
    private let bytes: [UInt8]
    private let exit: ExitStatus

    /// - Parameter exit: the code of every failure that names a place in it.
    /// - Throws: ``CommandFailure`` with `exit` when it is not JSON.
    init(path: String, bytes: [UInt8], exit: ExitStatus = .configuration) throws {
        self.path = path
        self.bytes = bytes
        self.exit = exit
        do {
            self.root = try JSONValue(parsing: bytes)
        } catch {
            // The library's advice is for who sends a payload.
            let isCut = error.code == .unexpectedEnd || error.code == .empty
            throw CommandFailure(
                exit,
                "\(Self.place(path, error.byteOffset, bytes)): "
                    + (isCut ? "the file is \(error.code == .empty ? "empty" : "cut short")" : "it is \(error)"),
                hint: isCut && exit == .configuration
                    ? "restore it, or write it anew: 'kii-push help files' shows its form" : nil)
        }
    }

    /// Where what `pointer` leads to begins: `FILE:LINE:COLUMN`, both from 1. Without it, where the value above begins.
    func place(of pointer: JSONPointer) -> String {
        var pointer = pointer
        while self.root[pointer] == nil, !pointer.tokens.isEmpty { pointer.tokens.removeLast() }
        return Self.place(self.path, self.root[pointer]?.byteOffset ?? 0, self.bytes)
    }

    func origin(of pointer: JSONPointer) -> SettingOrigin {
        .file(path: self.path, place: self.place(of: pointer), pointer: pointer.description)
    }

    func failure(at pointer: JSONPointer, _ what: String, hint: String? = nil) -> CommandFailure {
        let name = pointer.tokens.isEmpty ? "it" : pointer.description
        return CommandFailure(self.exit, "\(self.place(of: pointer)): \(name) \(what)", hint: hint)
    }

    var whole: DocumentValue { DocumentValue(document: self, pointer: JSONPointer(), json: self.root) }

    /// Columns count characters, as editors do.
    private static func place(_ path: String, _ offset: Int, _ bytes: [UInt8]) -> String {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return "\(path):\(line):\(String(decoding: before[start...], as: UTF8.self).count + 1)"
    }
}

/// A value in a document, and where it is.
struct DocumentValue: Sendable {
    let document: ConfigurationDocument
    let pointer: JSONPointer
    let json: JSONValue

    /// A member of the object; `nil` when it is absent, or this is no object.
    subscript(key: String) -> DocumentValue? {
        self.json[key].map { DocumentValue(document: self.document, pointer: self.pointer.appending(key), json: $0) }
    }

    var origin: SettingOrigin { self.document.origin(of: self.pointer) }

    func failure(_ what: String, hint: String? = nil) -> CommandFailure {
        self.document.failure(at: self.pointer, what, hint: hint)
    }

    func text() throws -> String {
        guard let text = self.json.string else { throw self.failure("must be a text") }
        return text
    }

    /// Refuses what is no object, and a member that would be overlooked.
    func requireMembers(_ members: [String]) throws {
        guard let present = self.json.members else { throw self.failure("must be an object") }
        guard let unknown = present.first(where: { !members.contains($0.key) })?.key else { return }
        let guess = suggestion(for: unknown, among: members).map { "; did you mean '\($0)'?" } ?? ""
        throw self.document.failure(
            at: self.pointer.appending(unknown), "is unknown\(guess)",
            hint: "it may be " + members.joined(separator: ", "))
    }
}
