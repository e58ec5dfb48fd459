extension JSONValue {
    /// Turns the value into any `Decodable` type, without Foundation.
    ///
    /// Numbers are exact: an integer type takes `1`, `1.0` and `1e3`, and refuses a number with a fraction or out of its
    /// range; a floating-point type takes the nearest value and refuses one beyond its range. Of members with the same
    /// key the last counts. `Date`, `Data` and `URL` have no special form here: they decode as they say themselves.
    ///
    /// - Throws: `DecodingError`, whose path and description (with a JSON Pointer) name the place but hold no value;
    ///   and what the type's own `init(from:)` throws.
    public func decode<Result: Decodable>(_ type: Result.Type = Result.self) throws -> Result {
        try Result(from: JSONValueDecoder(value: self))
    }
}

/// Shows a ``JSONValue`` to `Decodable` types, and is at once the container of a single value.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    /// The path to the container, and the step from there: joined only when somebody asks, which is nearly never.
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

    func decode(_ type: Double.Type) throws -> Double { try self.floatingPoint() }
    func decode(_ type: Float.Type) throws -> Float { try self.floatingPoint() }
    func decode(_ type: Int.Type) throws -> Int { try self.integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try self.integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try self.integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try self.integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try self.integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try self.integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try self.integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try self.integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try self.integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try self.integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try self.integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try self.integer() }
    func decode<Result: Decodable>(_ type: Result.Type) throws -> Result { try Result(from: self) }

    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard let number = self.value.number else { throw self.mismatch(Integer.self, "an integer") }
        guard let integer = number.exactly(Integer.self) else {
            throw self.corrupted("the number is not a whole one that fits \(Integer.self)")
        }
        return integer
    }

    private func floatingPoint<Number: BinaryFloatingPoint & LosslessStringConvertible>() throws -> Number {
        guard let number = self.value.number else { throw self.mismatch(Number.self, "a number") }
        guard let result = Number(number.text), result.isFinite else {
            throw self.corrupted("the number is beyond the range of \(Number.self)")
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
    /// The kind with its article, for errors.
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
