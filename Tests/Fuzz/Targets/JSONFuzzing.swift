import KiiPushCore

/// Parsing, writing and reading JSON. The input is the document.
enum JSONFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        do throws(JSONError) {
            let value = try JSONValue(parsing: input)
            Self.checkWriting(value, &claims)
            var budget = 64
            Self.check(value, at: JSONPointer(), in: value, &budget, &claims)
            for pointer in value.duplicateKeys {
                claims.require(value[pointer] != nil, "a duplicate key is there")
            }
        } catch {
            claims.require((0...input.count).contains(error.byteOffset), "the fault lies in the document")
            claims.require(!error.description.isEmpty, "the fault has words")
        }
        return claims.violated
    }

    /// Every layout preserves the value.
    private static func checkWriting(_ value: JSONValue, _ claims: inout Claims) {
        for (layout, sortsKeys) in JSONLayout.allCases.flatMap({ [($0, false), ($0, true)] }) {
            let written = value.serialized(layout, sortedKeys: sortsKeys)
            guard let again = try? JSONValue(parsing: written) else {
                claims.require(false, "what is written is JSON")
                continue
            }
            claims.require(again == value, "what is written means the same")
            claims.require(again.hashValue == value.hashValue, "equal values have equal hashes")
            let twice = again.serialized(layout, sortedKeys: sortsKeys)
            claims.require(twice == written, "what is written is written so again")
        }
        let rebuilt = Self.rebuilt(value)
        claims.require(rebuilt == value && value == rebuilt, "a value built from the parts is equal")
        claims.require(rebuilt.hashValue == value.hashValue, "a value built from the parts has the same hash")
        claims.require(rebuilt.serialized() == value.serialized(), "a value built from the parts is written alike")
        claims.require((try? value.decode(JSONValue.self)) == value, "a value decodes to itself")
        Self.decode(value)
    }

    private static func rebuilt(_ value: JSONValue) -> JSONValue {
        if let members = value.members {
            return .object(members.map { ($0.key, Self.rebuilt($0.value)) })
        }
        if let elements = value.array { return JSONValue(elements.map(Self.rebuilt)) }
        if let string = value.string { return JSONValue(string) }
        if let number = value.number { return JSONValue(number) }
        if let bool = value.bool { return JSONValue(bool) }
        return .null
    }

    /// Decoding may succeed or throw; the claim is only that it ends.
    private static func decode(_ value: JSONValue) {
        _ = try? value.decode([String: [Int]].self)
        _ = try? value.decode([String: [String: Bool]].self)
        _ = try? value.decode([[Double]].self)
        _ = try? value.decode([Int8].self)
        _ = try? value.decode([UInt64?].self)
        _ = try? value.decode([Float].self)
        _ = try? value.decode(Int128.self)
        _ = try? value.decode(String.self)
    }

    /// Every way of access to a value gives the same value.
    private static func check(
        _ value: JSONValue, at pointer: JSONPointer, in root: JSONValue, _ budget: inout Int, _ claims: inout Claims
    ) {
        // The budget limits the checks in a large document, because each pointer is followed from the root.
        budget -= 1
        guard budget > 0 else { return }
        claims.require(root[pointer] == value, "a pointer leads to its value")
        claims.require(JSONPointer(pointer.description) == pointer, "a pointer's text is that pointer")
        let isKind = [
            value.isNull, value.bool != nil, value.number != nil, value.string != nil, value.array != nil,
            value.members != nil,
        ]
        claims.require(isKind.filter { $0 }.count == 1, "a value is of one kind")
        if let number = value.number { Self.check(number, value, &claims) }
        for member in value.members ?? [] {
            claims.require(value[member.key] == member.value, "a member is found by its key")
            Self.check(member.value, at: pointer.appending(member.key), in: root, &budget, &claims)
        }
        for (index, element) in (value.array ?? []).enumerated() {
            Self.check(element, at: pointer.appending(index), in: root, &budget, &claims)
        }
    }

    private static func check(_ number: JSONNumber, _ value: JSONValue, _ claims: inout Claims) {
        claims.require(JSONNumber(number.text) == number, "a number's text is that number")
        claims.require(value.int64 == number.int64, "a number is the same integer both ways")
        if let integer = number.int64 {
            claims.require(JSONNumber(integer) == number, "an integer is that number")
            claims.require(JSONNumber(integer).hashValue == number.hashValue, "equal numbers have equal hashes")
            claims.require(number.exactly(Int128.self) == Int128(integer), "an integer is one in a larger type")
        }
        claims.require(number.uint64.map { JSONNumber($0) == number } ?? true, "a natural number is that number")
        claims.require(number.exactly(Int8.self).map { JSONNumber($0) == number } ?? true, "so is a small one")
        if let double = number.double {
            claims.require(JSONNumber(double)?.double == double, "a Double is read back")
        }
    }
}
