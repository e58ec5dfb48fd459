import Glibc
import KiiPushCore

/// A JSON file of this program: an object with `"version": 1`.
struct VersionedFile {
    static let version = 1

    let document: ConfigurationDocument

    var path: String { self.document.path }
    var root: JSONValue { self.document.root }

    /// Reads a file without secrets; `nil` when there is none.
    init?(openAt path: String) throws {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            try self.init(path: path, bytes: InputFile.read(path))
        } catch let failure as CommandFailure where failure.exit == .missingInput {
            throw CommandFailure(.configuration, failure.message)
        }
    }

    /// Reads a file with secrets: refused unless it is ours and closed to others. `nil` when there is none.
    init?(privateAt path: String) throws {
        guard let bytes = try PrivateFile.read(path) else { return nil }
        try self.init(path: path, bytes: bytes)
    }

    init(path: String, bytes: [UInt8]) throws {
        self.document = try ConfigurationDocument(path: path, bytes: bytes)
        guard let version = self.root["version"]?.int64 else {
            throw CommandFailure(.configuration, "\(path) has no version", hint: "add \"version\": \(Self.version)")
        }
        guard version == Self.version else {
            throw CommandFailure(
                .configuration,
                "\(path) has version \(version); this program reads version \(Self.version)",
                hint: "use a newer kii-push, or move the file away"
            )
        }
    }

    /// A text at the path of keys, or `nil` when it is absent.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 when something else is there.
    func text(_ keys: String...) throws -> String? { try self.text(keys) }

    /// As with the keys one by one.
    func text(_ keys: [String]) throws -> String? {
        try self.document.text(at: JSONPointer(tokens: keys))
    }

    /// Replaces the file at `path`, whole or not at all, with mode 0600.
    static func write(_ members: [(String, JSONValue)], to path: String) throws {
        let head: [(String, JSONValue)] = [("version", JSONValue(Self.version))]
        let bytes = JSONValue.object(head + members).serialized(pretty: true)
        try PrivateFile.replace(path, with: bytes + [UInt8(ascii: "\n")])
    }
}
