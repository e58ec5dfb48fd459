extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    public static let null = JSONValue(storage: .null)

    /// Makes a Boolean.
    public init(_ bool: Bool) { self.init(storage: .bool(bool)) }

    /// Makes a number from any integer.
    public init(_ integer: some BinaryInteger) { self.init(storage: .number(JSONNumber(integer))) }

    /// Makes a number; `nil` for infinities and NaN, which JSON cannot express.
    public init?(_ double: Double) {
        guard let number = JSONNumber(double) else { return nil }
        self.init(storage: .number(number))
    }

    package init(_ number: JSONNumber) { self.init(storage: .number(number)) }

    /// Makes a string.
    public init(_ string: String) { self.init(storage: .string(string)) }

    /// Makes an array.
    public init(_ elements: [JSONValue]) { self.init(storage: .array(elements)) }

    package init(members: [JSONMember]) { self.init(storage: .object(members)) }

    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        JSONValue(members: members.map { JSONMember(key: $0.key, value: $0.value) })
    }

    /// Makes an object that keeps the order of `members`; the last of several with the same key counts.
    public static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        JSONValue(members: members.map { JSONMember(key: $0.0, value: $0.1) })
    }

    package static func object(present members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        .object(JSONMembers(present: members))
    }

    package var pairs: JSONMembers { (self.members ?? []).map { ($0.key, $0.value) } }

    /// `null`.
    ///
    /// In `condition ? nil : value`, Swift reads `nil` as this literal, even where a `JSONValue?` is expected. Write
    /// `Optional.none` or an `if` instead.
    public init(nilLiteral: ()) { self = .null }

    /// Makes a Boolean.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Makes a number.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// Makes a number; `null` if the literal is too large for a `Double`.
    public init(floatLiteral value: Double) { self = JSONValue(value) ?? .null }
    /// Makes a string.
    public init(stringLiteral value: String) { self.init(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self.init(elements) }
    /// Makes an object that keeps the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}

package typealias JSONMembers = [(String, JSONValue)]

extension JSONMembers {
    package init(present members: KeyValuePairs<String, (any JSONConvertible)?>) {
        self = members.compactMap { key, value in value.map { (key, $0.json) } }
    }
}

package protocol JSONConvertible {
    var json: JSONValue { get }
}

extension JSONValue: JSONConvertible { package var json: JSONValue { self } }
extension String: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Bool: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Int: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Int64: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension [String]: JSONConvertible { package var json: JSONValue { JSONValue(self.map { JSONValue($0) }) } }
