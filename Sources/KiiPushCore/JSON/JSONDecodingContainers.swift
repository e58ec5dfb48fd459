enum JSONCodingKey: CodingKey {
    case member(String)
    case element(Int)

    init(stringValue: String) { self = .member(stringValue) }
    init(intValue: Int) { self = .element(intValue) }

    var stringValue: String {
        switch self {
        case .member(let key): key
        case .element(let index): "Index \(index)"
        }
    }

    var intValue: Int? {
        if case .element(let index) = self { index } else { nil }
    }
}

struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [JSONMember]  // including members that a later member replaces
    private let values: [ExactString: JSONValue]
    let codingPath: [any CodingKey]

    init(members: [JSONMember], codingPath: [any CodingKey]) {
        self.members = members
        self.values = Dictionary(members.map { (ExactString($0.key), $0.value) }) { _, last in last }
        self.codingPath = codingPath
    }

    var allKeys: [Key] { self.members.uniqued().compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { self.values[ExactString(key.stringValue)] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try self.decoder(key).decodeNil() }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try self.decoder(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try self.decoder(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try self.decoder(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try self.decoder(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try self.decoder(key).decode(type) }

    func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
        try self.decoder(key).decode(type)
    }

    // The protocol's default implementations for these two types throw.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try self.decoder(key).decode(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try self.decoder(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { self.superDecoder(JSONCodingKey.member("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { self.superDecoder(key) }

    /// If there is no member for the superclass, its decoder has the value null, as in Foundation.
    private func superDecoder(_ key: any CodingKey) -> any Decoder {
        let value = self.values[ExactString(key.stringValue)] ?? .null
        return JSONValueDecoder(value: value, containerPath: self.codingPath, key: key)
    }

    private func decoder(_ key: Key) throws -> JSONValueDecoder {
        guard let value = self.values[ExactString(key.stringValue)] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: self.codingPath, at: "a member is missing"))
        }
        return JSONValueDecoder(value: value, containerPath: self.codingPath, key: key)
    }
}

struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [JSONValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { self.elements.count }
    var isAtEnd: Bool { self.currentIndex == self.elements.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = try self.decoder().decodeNil()
        if isNull { self.currentIndex += 1 }
        return isNull
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try self.advance { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try self.advance { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try self.advance { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try self.advance { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try self.advance { try $0.decode(type) } }

    mutating func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
        try self.advance { try $0.decode(type) }
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try self.advance { try $0.decode(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try self.advance { try $0.decode(type) } }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try self.advance { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try self.advance { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try self.advance { $0 } }

    /// Stays at the element if `read` throws, so that the caller may try another type.
    private mutating func advance<Result>(_ read: (JSONValueDecoder) throws -> Result) throws -> Result {
        let result = try read(self.decoder())
        self.currentIndex += 1
        return result
    }

    private func decoder() throws -> JSONValueDecoder {
        let key = JSONCodingKey.element(self.currentIndex)
        guard !self.isAtEnd else {
            let context = DecodingError.Context(codingPath: self.codingPath + [key], at: "the array ends before")
            throw DecodingError.valueNotFound(JSONValue.self, context)
        }
        return JSONValueDecoder(value: self.elements[self.currentIndex], containerPath: self.codingPath, key: key)
    }
}
