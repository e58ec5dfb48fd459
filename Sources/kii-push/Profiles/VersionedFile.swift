import Glibc
package import KiiPushCore

/// A JSON file of this program: an object with `"version": 1`.
package struct VersionedFile {
    static let version = 1

    let document: ConfigurationDocument

    var path: String { self.document.path }
    var root: JSONValue { self.document.root }

    /// Reads a file that anybody may read and that decides where secrets go and what is executed: refused unless it and
    /// its folder are ours or root's, and only we or root can write them. `nil` when there is none that we can reach.
    init?(trustedAt path: String) throws {
        guard access(path, F_OK) == 0, let bytes = try TrustedFile.read(path) else { return nil }
        try self.init(path: path, bytes: bytes)
    }

    /// Reads a file with secrets: refused unless it is ours and closed to others. `nil` when there is none.
    init?(privateAt path: String) throws {
        guard let bytes = try PrivateFile.read(path) else { return nil }
        try self.init(path: path, bytes: bytes)
    }

    package init(path: String, bytes: [UInt8]) throws {
        self.document = try ConfigurationDocument(path: path, bytes: bytes)
        guard let version = self.root["version"]?.int64 else {
            throw self.document.whole.failure("has no version", hint: "add \"version\": \(Self.version)")
        }
        guard version == Self.version else {
            throw self.document.failure(
                at: JSONPointer(tokens: ["version"]), "is \(version); this program reads version \(Self.version)",
                hint: "use a newer kii-push, or move the file away")
        }
    }

    /// The text at the path of keys, `nil` when it is absent; throws ``CommandFailure`` with exit 78 for anything else.
    func text(_ keys: String...) throws -> String? {
        var value: DocumentValue? = self.document.whole
        for key in keys { value = value?[key] }
        return try value?.text()
    }

    /// The part for `profile` of a file that has one for each; `nil` when it has none.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 when that part, or the file, has a member that would be overlooked.
    func part(of profile: String, files: [String], members: [String]) throws -> DocumentValue? {
        try self.document.whole.requireMembers(files)
        guard let all = self.document.whole["profiles"] else { return nil }
        guard all.json.kind == .object else { throw all.failure("must be an object") }
        let part = all[profile]
        try part?.requireMembers(members)
        return part
    }

    /// Replaces the file at `path`, whole or not at all, with mode 0600.
    static func write(_ members: [(String, JSONValue)], to path: String) throws {
        try PrivateFile.replace(path, with: self.bytes(members))
    }

    package static func bytes(_ members: [(String, JSONValue)]) -> [UInt8] {
        let head: [(String, JSONValue)] = [("version", JSONValue(Self.version))]
        return JSONValue.object(head + members).serialized(.lines) + [UInt8(ascii: "\n")]
    }
}
