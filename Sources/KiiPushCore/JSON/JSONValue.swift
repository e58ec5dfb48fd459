/// A JSON value: null, a Boolean, a number, a string, an array or an object.
///
/// ```swift
/// let value = try JSONValue(parsing: #"{"aps": {"badge": 3}}"#)
/// let badge = value["aps"]?["badge"]?.int64
/// ```
///
/// A parsed value keeps the document's bytes. Each access makes its Swift value anew.
///
/// Equality is by meaning. The order of an object's members does not matter. Numbers compare by value: `1`, `1.0` and
/// `10e-1` are equal, and so are `0` and `-0`. Numbers with an exponent of ±10¹⁷ or beyond compare as text. Strings
/// compare by Unicode scalars without normalisation.
///
/// - Source: RFC 8259
public struct JSONValue: Sendable {
    /// The six kinds of value.
    public enum Kind: Sendable, Hashable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool
        /// A number of any size and precision.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }

    enum Storage: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        case string(String)
        case array([JSONValue])
        case object([JSONMember])
        case parsed(JSONSlice)
    }

    let storage: Storage

    init(slice: JSONSlice) { self.storage = .parsed(slice) }

    init(storage: Storage) { self.storage = storage }

    package var documentBytes: [UInt8] {
        if case .parsed(let slice) = self.storage { slice.ownBytes } else { self.serialized() }
    }

    /// The kind of value.
    public var kind: Kind {
        switch self.storage {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        case .parsed(let slice): slice.kind
        }
    }

    package var isNull: Bool { self.kind == .null }

    /// The Boolean; `nil` for any other kind, also for `0` and `"true"`.
    public var bool: Bool? {
        switch self.storage {
        case .bool(let bool): bool
        case .parsed(let slice) where slice.kind == .bool: slice.bool
        default: nil
        }
    }

    /// The text; `nil` for any other kind.
    public var string: String? {
        switch self.storage {
        case .string(let string): string
        case .parsed(let slice) where slice.kind == .string: slice.string
        default: nil
        }
    }

    package var number: JSONNumber? {
        switch self.storage {
        case .number(let number): number
        case .parsed(let slice) where slice.kind == .number: JSONNumber(scanned: slice.numberText)
        default: nil
        }
    }

    /// The number if an `Int64` represents it exactly, also when written as `1.0` or `1e3`; otherwise `nil`.
    public var int64: Int64? {
        if case .parsed(let slice) = self.storage, slice.kind == .number, let short = slice.shortInteger {
            return short
        }
        return self.number?.int64
    }

    /// The nearest `Double`; `nil` for any other kind, and for numbers beyond its range, such as `1e400`.
    public var double: Double? { self.number?.double }

    /// The elements; `nil` for any other kind.
    public var array: [JSONValue]? {
        switch self.storage {
        case .array(let elements): elements
        case .parsed(let slice) where slice.kind == .array: slice.elements()
        default: nil
        }
    }

    /// The members in document order; `nil` for any other kind. Of several members with the same key, only the last.
    public var members: [JSONMember]? { self.writtenMembers?.uniqued() }

    var writtenMembers: [JSONMember]? {
        switch self.storage {
        case .object(let members): members
        case .parsed(let slice) where slice.kind == .object: slice.members()
        default: nil
        }
    }

    /// The last member with the key `key`. `nil` if there is none, or the value is not an object.
    public subscript(key: String) -> JSONValue? {
        switch self.storage {
        case .object(let members):
            members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
        case .parsed(let slice) where slice.kind == .object:
            slice.member(key).map(JSONValue.init(slice:))
        default: nil
        }
    }

    /// The element `index`. `nil` if there is none, or the value is not an array.
    ///
    /// Each access to a parsed value reads all elements. To visit several, use ``array``.
    public subscript(index: Int) -> JSONValue? {
        guard let elements = self.array, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value at `pointer`, relative to this value (RFC 6901).
    package subscript(pointer: JSONPointer) -> JSONValue? {
        var value = self
        for token in pointer.tokens {
            let next: JSONValue? =
                switch value.kind {
                case .object: value[token]
                case .array: JSONPointer.index(token).flatMap { value[$0] }
                case .null, .bool, .number, .string: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
