/// A JSON value: null, a truth value, a number, a string, an array or an object.
///
/// A parsed value is a range of the document's retained bytes. The whole document was checked when it was parsed;
/// what nobody asks for is never turned into Swift values.
///
/// Two values are equal if they mean the same: objects whatever the order of their members, numbers by value (`1`,
/// `1.0` and `10e-1` are equal, and so are `0` and `-0`), strings by their Unicode scalars without normalisation.
///
/// - Source: RFC 8259.
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

    /// The value as one document: as it was received if it was parsed, otherwise written.
    package var documentBytes: [UInt8] {
        if case .parsed(let slice) = self.storage { slice.ownBytes } else { self.serialized() }
    }

    /// Which kind of value it is.
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

    /// Whether it is `null`.
    package var isNull: Bool { self.kind == .null }

    /// The truth value; `nil` for any other kind, also for `0` and `"true"`.
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

    /// The number with the exact text it was written with; `nil` for any other kind.
    package var number: JSONNumber? {
        switch self.storage {
        case .number(let number): number
        case .parsed(let slice) where slice.kind == .number: JSONNumber(scanned: slice.numberText)
        default: nil
        }
    }

    /// The number, if it is exactly an `Int64`, also when written as `1.0` or `1e3`; `nil` for anything else.
    public var int64: Int64? {
        if case .parsed(let slice) = self.storage, slice.kind == .number, let short = slice.shortInteger {
            return short
        }
        return self.number?.int64
    }

    /// The nearest `Double`; `nil` for any other kind and for numbers beyond its range, such as `1e400`.
    public var double: Double? { self.number?.double }

    /// The elements; `nil` for any other kind.
    public var array: [JSONValue]? {
        switch self.storage {
        case .array(let elements): elements
        case .parsed(let slice) where slice.kind == .array: slice.elements()
        default: nil
        }
    }

    /// The members in document order, of those with the same key the last only; `nil` for any other kind.
    public var members: [JSONMember]? { self.writtenMembers?.uniqued() }

    /// The members in document order, also those that a later one replaces.
    var writtenMembers: [JSONMember]? {
        switch self.storage {
        case .object(let members): members
        case .parsed(let slice) where slice.kind == .object: slice.members()
        default: nil
        }
    }

    /// The member `key`, the last one if there are several; `nil` if there is none or this is not an object.
    public subscript(key: String) -> JSONValue? {
        switch self.storage {
        case .object(let members):
            members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
        case .parsed(let slice) where slice.kind == .object:
            slice.member(key).map(JSONValue.init(slice:))
        default: nil
        }
    }

    /// The element `index`; `nil` if there is none or this is not an array.
    ///
    /// It is found by stepping over the ones before it: to visit all elements take ``array``.
    public subscript(index: Int) -> JSONValue? {
        guard let elements = self.array, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// What `pointer` leads to from here (RFC 6901); `nil` if there is nothing.
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
