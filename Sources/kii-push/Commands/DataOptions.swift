import KiiPushCommandLine
import KiiPushCore

struct DataOptions: ParsableArguments {
    @Option(short: "d", value: "JSON", help: "A JSON object; '-' reads it from standard input.")
    var data: String?

    @Option(
        short: "f", long: "data-file", value: "FILE", help: "A file with the JSON object.",
        completion: .file)
    var file: String?

    func validate() throws { try self.exclude("data", "data-file") }
    var isGiven: Bool { self.data != nil || self.file != nil }

    /// - Throws: ``CommandFailure`` with exit 65 if the text is no JSON object, or has a duplicate key: receivers would
    ///   see only one of the values. Exit 66 if the file cannot be read.
    func given() throws -> JSONValue? {
        guard self.isGiven else { return Optional.none }
        let bytes = try self.bytes()
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw CommandFailure(.badInput, "the data is \(error)")
        }
        guard value.kind == .object else {
            throw CommandFailure(.badInput, "the data is no JSON object", hint: #"write it as {"key":"value"}"#)
        }
        try Self.checkKeys(of: value)
        return value
    }

    static func checkKeys(of value: JSONValue) throws {
        guard let key = value.duplicateKeys.first else { return }
        throw CommandFailure(.badInput, "the data has the key \(key) more than once", hint: "write each key once")
    }

    private func bytes() throws -> [UInt8] {
        guard self.file == nil, let data = self.data, data != "-" else { return try InputFile.read(self.file ?? "-") }
        return Array(data.utf8)
    }
}
