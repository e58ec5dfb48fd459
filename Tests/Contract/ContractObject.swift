import KiiPushCore

/// An object of the contract's files, read member by member. An unread member is a mistake in the file.
final class ContractObject {
    private let value: JSONValue
    private let place: String
    private var read: Set<String> = []

    init(_ value: JSONValue, at place: String) throws {
        guard value.kind == .object else { throw ContractFault("\(place) is not an object") }
        self.value = value
        let name = (value["id"] ?? value["code"] ?? value["name"])?.string
        self.place = name.map { "\(place) (\($0))" } ?? place
    }

    func optional(_ key: String) -> JSONValue? {
        self.read.insert(key)
        return self.value[key]
    }

    func required(_ key: String) throws -> JSONValue {
        guard let value = self.optional(key) else { throw ContractFault("\(self.place) has no \(key)") }
        return value
    }

    func optionalString(_ key: String) throws -> String? {
        guard let value = self.optional(key) else { return nil }
        guard let text = value.string, !text.isEmpty else { throw self.wrong(key) }
        return text
    }

    func string(_ key: String) throws -> String {
        guard let text = try self.required(key).string, !text.isEmpty else { throw self.wrong(key) }
        return text
    }

    func integer(_ key: String) throws -> Int {
        guard let number = try self.required(key).int64 else { throw self.wrong(key) }
        return Int(number)
    }

    /// The member as a Boolean; false if absent.
    func bool(_ key: String) throws -> Bool {
        guard let value = self.optional(key) else { return false }
        guard let bool = value.bool else { throw self.wrong(key) }
        return bool
    }

    /// The elements of the member; empty if absent.
    func elements(_ key: String) throws -> [JSONValue] {
        guard let value = self.optional(key) else { return [] }
        guard let elements = value.array else { throw self.wrong(key) }
        return elements
    }

    func strings(_ key: String) throws -> [String] {
        try self.elements(key).map { element in
            guard let text = element.string else { throw self.wrong(key) }
            return text
        }
    }

    func integers(_ key: String) throws -> [Int] {
        try self.elements(key).map { element in
            guard let number = element.int64 else { throw self.wrong(key) }
            return Int(number)
        }
    }

    func objects(_ key: String) throws -> [ContractObject] {
        try self.elements(key).enumerated()
            .map { try ContractObject($0.element, at: "\(self.place)/\(key)/\($0.offset)") }
    }

    func object(_ key: String) throws -> ContractObject? {
        try self.optional(key).map { try ContractObject($0, at: "\(self.place)/\(key)") }
    }

    func choice<Value: RawRepresentable<String>>(_ text: String) throws -> Value {
        guard let value = Value(rawValue: text) else {
            throw ContractFault("\(self.place): \(text) is no \(Value.self)")
        }
        return value
    }

    func expectNothingElse() throws {
        let unknown = (self.value.members ?? []).map { $0.key }.filter { !self.read.contains($0) }
        guard unknown.isEmpty else {
            throw ContractFault("\(self.place) has members that mean nothing: \(unknown.joined(separator: ", "))")
        }
        guard self.value.duplicateKeys.isEmpty else { throw ContractFault("\(self.place) says something twice") }
    }

    private func wrong(_ key: String) -> ContractFault { ContractFault("\(self.place): \(key) is of another type") }
}
