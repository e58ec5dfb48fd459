extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    public static let null = JSONValue(storage: .null)

    /// Makes a truth value.
    public init(_ bool: Bool) { self.init(storage: .bool(bool)) }

    /// Makes a number of any integer.
    public init(_ integer: some BinaryInteger) { self.init(storage: .number(JSONNumber(integer))) }

    /// Makes a number; `nil` for infinities and NaN, which JSON cannot write.
    public init?(_ double: Double) {
        guard let number = JSONNumber(double) else { return nil }
        self.init(storage: .number(number))
    }

    /// Makes a number with exactly the given text.
    package init(_ number: JSONNumber) { self.init(storage: .number(number)) }

    /// Makes a string.
    public init(_ string: String) { self.init(storage: .string(string)) }

    /// Makes an array.
    public init(_ elements: [JSONValue]) { self.init(storage: .array(elements)) }

    /// Makes an object whose members are written in the given order; of those with one key the last counts.
    package init(members: [JSONMember]) { self.init(storage: .object(members)) }

    /// An object whose members are written in the given order; of those with one key the last counts.
    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        JSONValue(members: members.map { JSONMember(key: $0.key, value: $0.value) })
    }

    /// An object whose members are written in the given order; of those with one key the last counts.
    public static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        JSONValue(members: members.map { JSONMember(key: $0.0, value: $0.1) })
    }

    /// An object of the members that have a value.
    package static func object(present members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        .object(JSONMembers(present: members))
    }

    /// The members as pairs; none for any other kind.
    package var pairs: JSONMembers { (self.members ?? []).map { ($0.key, $0.value) } }

    /// `null`.
    ///
    /// Where a `JSONValue?` is expected, `nil` is its absence, except in `condition ? nil : value`: there Swift takes
    /// it for this literal. Write `Optional.none` or an `if` instead.
    public init(nilLiteral: ()) { self = .null }

    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Makes a number.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// Makes a number; `null` should the literal be too large for a `Double`.
    public init(floatLiteral value: Double) { self = JSONValue(value) ?? .null }
    /// Makes a string.
    public init(stringLiteral value: String) { self.init(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self.init(elements) }
    /// Makes an object that keeps the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}

/// The members of an object that is put together, in the order in which they are written.
package typealias JSONMembers = [(String, JSONValue)]

extension JSONMembers {
    /// The members that have a value.
    package init(present members: KeyValuePairs<String, (any JSONConvertible)?>) {
        self = members.compactMap { key, value in value.map { (key, $0.json) } }
    }
}

/// What is written as a JSON value as it is.
package protocol JSONConvertible {
    var json: JSONValue { get }
}

extension JSONValue: JSONConvertible { package var json: JSONValue { self } }
extension String: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Bool: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Int: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Int64: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension [String]: JSONConvertible { package var json: JSONValue { JSONValue(self.map { JSONValue($0) }) } }
