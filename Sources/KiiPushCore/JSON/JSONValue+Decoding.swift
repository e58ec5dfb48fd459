extension JSONValue {
    /// Decodes the value as any `Decodable` type, without Foundation.
    ///
    /// An integer type accepts `1`, `1.0` and `1e3`, and refuses a fraction or a number out of its range. A
    /// floating-point type takes the nearest value and refuses a number beyond its range. The last of several members
    /// with the same key counts. `Date`, `Data` and `URL` decode by their own `Decodable` conformance.
    ///
    /// - Throws: `DecodingError`. The decoder's own errors name the place and contain no value. Errors that `Result`'s
    ///   `init(from:)` throws stay unchanged, and may quote the value, as for an enum with raw values.
    public func decode<Result: Decodable>(_ type: Result.Type = Result.self) throws -> Result {
        try Result(from: JSONValueDecoder(value: self))
    }
}

struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    /// ``codingPath`` joins this path and ``key`` only on access, which is rare.
    var containerPath: [any CodingKey] = []
    var key: (any CodingKey)?

    var codingPath: [any CodingKey] { self.key.map { self.containerPath + [$0] } ?? self.containerPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = self.value.writtenMembers else {
            throw self.mismatch([String: JSONValue].self, "an object")
        }
        return KeyedDecodingContainer(JSONKeyedContainer<Key>(members: members, codingPath: self.codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = self.value.array else { throw self.mismatch([JSONValue].self, "an array") }
        return JSONUnkeyedContainer(elements: elements, codingPath: self.codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { self.value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let bool = self.value.bool else { throw self.mismatch(type, "true or false") }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard let string = self.value.string else { throw self.mismatch(type, "a string") }
        return string
    }

    func decode<Result: Decodable>(_ type: Result.Type) throws -> Result { try Result(from: self) }

    // Two generic functions fit the protocol's requirement for an integer type. The compiler prefers this function,
    // which is more specialised.
    func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) throws -> Integer { try self.integer() }
    // The protocol's default implementations for these two types throw.
    func decode(_ type: Int128.Type) throws -> Int128 { try self.integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try self.integer() }

    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard let number = self.value.number else { throw self.mismatch(Integer.self, "an integer") }
        guard let integer = number.exactly(Integer.self) else {
            throw self.corrupted("the number is not a whole one that fits \(Integer.self)")
        }
        return integer
    }

    func decode<Number: BinaryFloatingPoint & LosslessStringConvertible & Decodable>(
        _ type: Number.Type
    ) throws -> Number {
        guard let number = self.value.number else { throw self.mismatch(type, "a number") }
        guard let result = Number(number.text), result.isFinite else {
            throw self.corrupted("the number is beyond the range of \(type)")
        }
        return result
    }

    private func mismatch(_ type: any Any.Type, _ expected: String) -> DecodingError {
        let context = self.context("expected \(expected), found \(self.value.kind.phrase)")
        return self.value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    private func corrupted(_ description: String) -> DecodingError { .dataCorrupted(self.context(description)) }

    private func context(_ description: String) -> DecodingError.Context {
        .init(codingPath: self.codingPath, at: description)
    }
}

extension DecodingError.Context {
    init(codingPath: [any CodingKey], at description: String) {
        let pointer = JSONPointer(codingPath: codingPath)
        self.init(codingPath: codingPath, debugDescription: "at \(pointer.abbreviated): \(description)")
    }
}

extension JSONValue.Kind {
    package var phrase: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
