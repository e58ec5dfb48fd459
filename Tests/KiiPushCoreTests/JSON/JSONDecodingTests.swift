import KiiPushCore
import Testing

@Suite struct JSONDecodingTests {
    @Test func decodesATypeOfEveryShape() throws {
        let value = try JSONValue(
            parsing: #"""
                {"name":"n","count":3,"ratio":0.5,"on":true,"list":[1,2.0,3e0],"map":{"a":{"id":"x"}},
                 "kind":"b","none":null,"any":{"k":[1.50]}}
                """#
        )
        let shape: Shape = try value.decode()
        #expect(shape.name == "n")
        #expect(shape.count == 3)
        #expect(shape.ratio == 0.5)
        #expect(shape.on)
        #expect(shape.list == [1, 2, 3])
        #expect(shape.map == ["a": Shape.Item(id: "x")])
        #expect(shape.kind == .b)
        #expect(shape.none == nil)
        #expect(shape.missing == nil)
        #expect(shape.any.text == #"{"k":[1.50]}"#)
    }

    @Test func decodesScalarsAtTheTop() throws {
        #expect(try JSONValue(parsing: "7").decode(Int.self) == 7)
        #expect(try JSONValue(parsing: #""x""#).decode(String.self) == "x")
        #expect(try JSONValue(parsing: "null").decode(Bool?.self) == nil)
        #expect(try JSONValue(parsing: "[null,true]").decode([Bool?].self) == [nil, true])
        #expect(try JSONValue(parsing: "1.5").decode(Float.self) == 1.5)
        let large = try JSONValue(parsing: "-170141183460469231731687303715884105728")
        #expect(try large.decode(Int128.self) == .min)
        #expect(try JSONValue(parsing: "18446744073709551615").decode(UInt64.self) == .max)
        #expect(try JSONValue(parsing: #"{"a":1,"a":2}"#).decode([String: Int].self) == ["a": 2])
    }

    @Test(arguments: ["128", "-129", "1.5", "1e10", "99999999999999999999"])
    func refusesNumbersThatDoNotFit(_ text: String) throws {
        let value = try JSONValue(parsing: #"{"a":[0,\#(text)]}"#)
        let error = #expect(throws: DecodingError.self) { try value.decode([String: [Int8]].self) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(JSONPointer(codingPath: context.codingPath).description == "/a/1")
        #expect(context.debugDescription.contains("\"/a/1\""))
        #expect(!context.debugDescription.contains(text))
    }

    @Test(arguments: ["1e400", "-1e400"]) func refusesNumbersBeyondDouble(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(throws: DecodingError.self) { try value.decode(Double.self) }
    }

    @Test(arguments: [
        (#"{"id":1}"#, "mismatch /id"), (#"{"id":null}"#, "null /id"), ("{}", "missing id at "), ("[]", "mismatch "),
        ("null", "null "), (#"{"id":["secret"]}"#, "mismatch /id"),
    ])
    func namesThePlaceOfAnError(document: String, expected: String) throws {
        let value = try JSONValue(parsing: document)
        do {
            _ = try value.decode(Shape.Item.self)
            Issue.record("decoded \(document)")
        } catch DecodingError.typeMismatch(_, let context) {
            #expect("mismatch \(JSONPointer(codingPath: context.codingPath))" == expected)
            #expect(!context.debugDescription.contains("secret"))
        } catch DecodingError.valueNotFound(_, let context) {
            #expect("null \(JSONPointer(codingPath: context.codingPath))" == expected)
        } catch DecodingError.keyNotFound(let key, let context) {
            #expect("missing \(key.stringValue) at \(JSONPointer(codingPath: context.codingPath))" == expected)
        }
    }

    @Test func anUnkeyedContainerKeepsItsPlaceAfterAFailure() throws {
        struct Mixed: Decodable, Equatable {
            var parts: [String] = []
            init(parts: [String]) { self.parts = parts }
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if try container.decodeNil() {
                        self.parts.append("nil")
                    } else if let number = try? container.decode(Int.self) {
                        self.parts.append("int \(number)")
                    } else {
                        self.parts.append("string \(try container.decode(String.self))")
                    }
                }
                #expect(throws: DecodingError.self) { try container.decode(Int.self) }
            }
        }
        let value = try JSONValue(parsing: #"[1,null,"x",2]"#)
        #expect(try value.decode(Mixed.self) == Mixed(parts: ["int 1", "nil", "string x", "int 2"]))
    }

    @Test func superclassesAndNestedContainersAreReached() throws {
        let value = try JSONValue(parsing: #"{"super":{"base":"b"},"own":1,"deep":{"list":[[5]]}}"#)
        let derived = try value.decode(Derived.self)
        #expect(derived.base == "b")
        #expect(derived.own == 1)
        #expect(derived.five == 5)
        let bare = try JSONValue(parsing: #"{"own":1,"deep":{"list":[[5]]}}"#).decode(Derived.self)
        #expect(bare.base == "none")
    }
}

private struct Shape: Decodable {
    struct Item: Decodable, Equatable { var id: String }
    enum Kind: String, Decodable { case a, b }
    var name: String
    var count: UInt8
    var ratio: Double
    var on: Bool
    var list: [Int]
    var map: [String: Item]
    var kind: Kind
    var none: Int?
    var missing: String?
    var any: JSONValue
}

private class Base: Decodable {
    enum CodingKeys: String, CodingKey { case base }
    let base: String
    required init(from decoder: any Decoder) throws {
        if try decoder.singleValueContainer().decodeNil() {
            self.base = "none"
        } else {
            self.base = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .base)
        }
    }
}

private final class Derived: Base {
    enum Keys: String, CodingKey { case own, deep, list }
    let own: Int
    let five: Int
    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.own = try container.decode(Int.self, forKey: .own)
        let deep = try container.nestedContainer(keyedBy: Keys.self, forKey: .deep)
        var list = try deep.nestedUnkeyedContainer(forKey: .list)
        var inner = try list.nestedUnkeyedContainer()
        self.five = try inner.decode(Int.self)
        try super.init(from: container.superDecoder())
    }
}
