/// An object of a configuration, read member by member. What is wrong is said by its JSON Pointer and never by its value. A
/// member that is `null` counts as missing.
package struct Settings {
    private let value: JSONValue
    private let pointer: JSONPointer

    private init(_ value: JSONValue, at pointer: JSONPointer, members: [String]) throws(SettingsError) {
        (self.value, self.pointer) = (value, pointer)
        guard let present = value.members else { throw self.failure("has to be an object") }
        if let unknown = present.first(where: { !members.contains($0.key) }) {
            throw self.failure("is unknown; there is " + members.joined(separator: ", "), at: unknown.key)
        }
    }

    /// A whole configuration, which has no other members than these.
    package init(parsing text: String, members: [String]) throws(SettingsError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: text)
        } catch {
            throw SettingsError("the configuration is \(error)")
        }
        if let twice = value.duplicateKeys.first {
            throw SettingsError("\(twice) is there twice")
        }
        try self.init(value, at: JSONPointer(), members: members)
    }

    /// Says what is wrong with a member, or with the object itself.
    package func failure(_ what: String, at key: String? = nil) -> SettingsError {
        let place = key.map { self.pointer.appending($0) } ?? self.pointer
        let name = place.tokens.isEmpty ? "the configuration" : place.description
        return SettingsError("\(name) \(what)")
    }

    private func member(_ key: String) -> JSONValue? {
        guard let member = self.value[key], !member.isNull else { return nil }
        return member
    }

    private func read<Value>(
        _ key: String, _ what: String, _ read: (JSONValue) -> Value?
    ) throws(SettingsError) -> Value? {
        guard let member = self.member(key) else { return nil }
        guard let value = read(member) else { throw self.failure("has to be \(what)", at: key) }
        return value
    }

    /// Not empty, and fit for C, where a zero ends a text.
    package func text(_ key: String) throws(SettingsError) -> String? {
        try self.read(key, "a text that is not empty and holds no zero") { value in
            value.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
        }
    }

    package func requiredText(_ key: String) throws(SettingsError) -> String {
        guard let text = try self.text(key) else { throw self.failure("is missing", at: key) }
        return text
    }

    package func word(_ key: String, of words: [String]) throws(SettingsError) -> String? {
        try self.read(key, "one of " + words.joined(separator: ", ")) { value in
            value.string.flatMap { words.contains($0) ? $0 : nil }
        }
    }

    package func flag(_ key: String) throws(SettingsError) -> Bool? { try self.read(key, "true or false", \.bool) }

    /// An object whose members are not for this library to check.
    package func object(_ key: String) throws(SettingsError) -> JSONValue? {
        try self.read(key, "an object") { $0.kind == .object ? $0 : nil }
    }

    package func integer(_ key: String) throws(SettingsError) -> Int? {
        try self.read(key, "a whole number") { $0.int64.flatMap { Int(exactly: $0) } }
    }

    package func seconds(_ key: String) throws(SettingsError) -> Duration? {
        try self.read(key, Settings.secondsRule) { Settings.seconds($0) }
    }

    package func listOfSeconds(_ key: String) throws(SettingsError) -> [Duration]? {
        guard let elements = try self.read(key, "a list of numbers of seconds", \.array) else { return nil }
        return try elements.enumerated().map { index, element throws(SettingsError) in
            guard let seconds = Settings.seconds(element) else {
                throw self.failure("has to be \(Settings.secondsRule)", at: key, index)
            }
            return seconds
        }
    }

    package func object(_ key: String, members: [String]) throws(SettingsError) -> Settings {
        guard let member = self.member(key) else { throw self.failure("is missing", at: key) }
        return try Settings(member, at: self.pointer.appending(key), members: members)
    }

    package func objects(_ key: String, members: [String]) throws(SettingsError) -> [Settings] {
        guard let elements = try self.read(key, "a list of objects", \.array) else { return [] }
        return try elements.enumerated().map { index, element throws(SettingsError) in
            try Settings(element, at: self.pointer.appending(key).appending(index), members: members)
        }
    }

    private func failure(_ what: String, at key: String, _ index: Int) -> SettingsError {
        SettingsError("\(self.pointer.appending(key).appending(index)) \(what)")
    }

    private static let secondsRule = "a number of seconds from 0 to 1000000000"

    private static func seconds(_ value: JSONValue) -> Duration? {
        value.double.flatMap { (0...1e9).contains($0) ? .seconds($0) : nil }
    }
}

/// What is wrong with a configuration: which member, and what it has to be.
package struct SettingsError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
