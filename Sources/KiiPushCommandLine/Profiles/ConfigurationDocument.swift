import Glibc
package import KiiPushCore

package typealias ConfigurationDocument = JSONReader<CommandFailure>

extension CommandFailure: JSONReaderError {
    package init(_ error: JSONMemberError, in path: String) { self.init(.configuration, error, in: path) }

    package init(_ exit: ExitStatus, _ error: JSONMemberError, in path: String) {
        let place = "\(path):\(error.place)"
        let name = error.pointer.tokens.isEmpty ? "it" : error.pointer.description
        switch error.rule {
        case .notJSON(let cause) where cause.code == .unexpectedEnd || cause.code == .empty:
            self.init(
                exit, "\(place): the file is \(cause.code == .empty ? "empty" : "cut short")",
                hint: exit == .configuration
                    ? "restore it, or write it anew: 'kii-push help files' shows its form" : nil)
        case .notJSON(let cause): self.init(exit, "\(place): it is \(cause)")
        case .unknown(let members):
            let guess = suggestion(for: error.pointer.tokens.last ?? "", among: members)
            self.init(
                exit, "\(place): \(name) is unknown\(guess.map { "; did you mean '\($0)'?" } ?? "")",
                hint: "it may be " + members.joined(separator: ", "))
        case .missing, .kind, .other: self.init(exit, "\(place): \(name) \(error.rule)")
        }
    }
}

extension ConfigurationDocument {
    /// `FILE:LINE:COLUMN` of the beginning of the value.
    package var place: String { "\(self.document):\(self.value.place)" }

    package var origin: SettingOrigin {
        .file(path: self.document, place: self.place, pointer: self.pointer.description)
    }

    package func failure(_ words: String, at key: String? = nil, hint: String) -> CommandFailure {
        var failure = self.failure(words, at: key)
        failure.hint = hint
        return failure
    }
}

/// The JSON files of this program: objects with `"version": 1`.
extension ConfigurationDocument {
    private static var version: Int { 1 }

    /// Reads a file that may decide where secrets go and which programs run. Others may read it, but only this user or
    /// root may own or write the file and its folder. Returns `nil` if there is no file.
    ///
    /// - Throws: an error if another user may change the file.
    package static func read(trustedAt path: String) throws -> Self? {
        guard access(path, F_OK) == 0, let bytes = try TrustedFile.read(path) else { return nil }
        return try self.read(bytes, path: path)
    }

    /// Reads a file with secrets, which only this user may own and read. Returns `nil` if there is no file.
    package static func read(privateAt path: String) throws -> Self? {
        try PrivateFile.read(path).map { try self.read($0, path: path) }
    }

    package static func read(_ bytes: [UInt8], path: String) throws -> Self {
        let file = try Self(parsing: bytes, in: path)
        guard let version = file.value["version"]?.int64 else {
            throw file.failure("has no version", hint: "add \"version\": \(self.version)")
        }
        guard version == self.version else {
            throw file.failure(
                "is \(version); this program reads version \(self.version)", at: "version",
                hint: "use a newer kii-push, or move the file away")
        }
        return file
    }

    package static func write(_ members: [(String, JSONValue)], to path: String) throws {
        try PrivateFile.replace(path, with: self.bytes(members))
    }

    package static func bytes(_ members: [(String, JSONValue)]) -> [UInt8] {
        let head: [(String, JSONValue)] = [("version", JSONValue(Self.version))]
        return JSONValue.object(head + members).serialized(.lines) + [UInt8(ascii: "\n")]
    }

    /// The part for `profile` in a file with a part for each profile; `nil` if there is none.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 if the part or the file has an unknown member.
    package func part(of profile: String, files: [String], members: [String]) throws -> Self? {
        try self.object(files)["profiles"]?.object()[profile]?.object(members)
    }
}
