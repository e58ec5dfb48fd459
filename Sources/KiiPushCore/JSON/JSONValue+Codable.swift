extension JSONValue: Codable {
    /// Decodes any value. With ``decode(_:)`` the value is exact. With another decoder, a number that is no 64-bit
    /// integer becomes a `Double`.
    public init(from decoder: any Decoder) throws {
        // `Decoder` does not name the kind of a value, so each kind is tried in turn.
        if let own = decoder as? JSONValueDecoder {
            self = own.value
        } else if let object = try? decoder.container(keyedBy: JSONCodingKey.self) {
            self = try .object(object.allKeys.map { ($0.stringValue, try object.decode(JSONValue.self, forKey: $0)) })
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !array.isAtEnd { elements.append(try array.decode(JSONValue.self)) }
            self.init(elements)
        } else {
            self = try JSONValue(scalar: decoder.singleValueContainer())
        }
    }

    private init(scalar: any SingleValueDecodingContainer) throws {
        if scalar.decodeNil() {
            self = .null
        } else if let bool = try? scalar.decode(Bool.self) {
            self.init(bool)
        } else if let integer = try? scalar.decode(Int64.self) {
            self.init(integer)
        } else if let integer = try? scalar.decode(UInt64.self) {
            self.init(integer)
        } else if let double = try? scalar.decode(Double.self), let value = JSONValue(double) {
            self = value
        } else {
            self.init(try scalar.decode(String.self))
        }
    }

    /// Encodes the value. A number becomes an `Int64` or `UInt64` if that is exact, otherwise the nearest `Double`.
    /// Throws `EncodingError` for a number beyond `Double`.
    public func encode(to encoder: any Encoder) throws {
        if let members = self.members {
            var container = encoder.container(keyedBy: JSONCodingKey.self)
            for member in members { try container.encode(member.value, forKey: .member(member.key)) }
        } else if let elements = self.array {
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        } else {
            var container = encoder.singleValueContainer()
            if let string = self.string {
                try container.encode(string)
            } else if let bool = self.bool {
                try container.encode(bool)
            } else if self.isNull {
                try container.encodeNil()
            } else if let integer = self.int64 {
                try container.encode(integer)
            } else if let integer = self.number?.uint64 {
                try container.encode(integer)
            } else if let double = self.double {
                try container.encode(double)
            } else {
                throw EncodingError.invalidValue(
                    Double.infinity,
                    .init(codingPath: encoder.codingPath, debugDescription: "the number is beyond the range of Double"))
            }
        }
    }
}
