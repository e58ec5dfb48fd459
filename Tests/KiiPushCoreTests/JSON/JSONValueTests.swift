import KiiPushCore
import Testing

@Suite struct JSONValueTests {
    /// RFC 8259, section 8.3, compares keys code unit by code unit. Pointers follow this rule too.
    @Test func pointersAreComparedByScalars() {
        let (one, two) = (JSONPointer(tokens: ["caf\u{e9}"]), JSONPointer(tokens: ["cafe\u{301}"]))
        #expect(one != two)
        #expect(Set([one, two, JSONPointer("/caf\u{e9}"), nil]).count == 3)
        #expect(JSONPointer(tokens: ["a", "b"]) != JSONPointer(tokens: ["ab"]))
        #expect(JSONPointer(tokens: ["a", "b"]) != JSONPointer(tokens: ["a"]))
        #expect(JSONPointer(tokens: ["a", "b"]) == JSONPointer("/a/b"))
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
        (#""\ud83d\ude00""#, "😀"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"), (#""a\u0000b""#, "a\0b"), (#""""#, ""),
        (#""é\\é""#, "é\\é"), (#""\\u0041""#, "\\u0041"), (#""\uFEFF""#, "\u{FEFF}"),
    ])
    func unescapesStrings(document: String, string: String) throws {
        let value = try JSONValue(parsing: document)
        #expect(value.string?.unicodeScalars.elementsEqual(string.unicodeScalars) == true)
    }

    @Test func answersNilForTheWrongKind() throws {
        let value = try JSONValue(parsing: #"{"n":1,"s":"1","b":true,"z":null,"a":[1],"o":{}}"#)
        #expect(value["n"]?.string == nil)
        #expect(value["s"]?.number == nil)
        #expect(value["n"]?.bool == nil)
        #expect(value["s"]?.int64 == nil)
        #expect(value["a"]?.members == nil)
        #expect(value["o"]?.array == nil)
        #expect(value["a"]?["0"] == nil)
        #expect(value["o"]?[0] == nil)
        #expect(value["z"]?.isNull == true)
        #expect(value["missing"] == nil)
        #expect(value["a"]?[0]?.int64 == 1)
        #expect(value["a"]?[1] == nil)
        #expect(value["a"]?[-1] == nil)
    }

    @Test func reachesIntoNestedValuesWithWhiteSpaceAround() throws {
        let value = try JSONValue(parsing: " { \"a\" : [ { \"b\" : \"]}\\\"\" } , [ ] , -1.5e3 ] ,\n\"c\":{} } ")
        #expect(value["a"]?[0]?["b"]?.string == "]}\"")
        #expect(value["a"]?[2]?.int64 == -1500)
        #expect(value["a"]?.array?.count == 3)
        #expect(value.members?.map(\.key) == ["a", "c"])
    }

    @Test(arguments: [
        ("", "{\"a/b\":{\"~\":[10,20]},\"\":1}"), ("/a~1b/~0/1", "20"), ("/", "1"), ("/a~1b/~0", "[10,20]"),
    ])
    func followsPointers(pointer: String, found: String) throws {
        let value = try JSONValue(parsing: #"{"a/b":{"~":[10,20]},"":1}"#)
        #expect(value[try #require(JSONPointer(pointer))]?.text == found)
    }

    @Test(arguments: ["/x", "/a~1b/~0/2", "/a~1b/~0/-", "/a~1b/~0/01", "/a~1b/~0/1/0", "/a~1b/~0/+1", "/a~1b/~0/"])
    func findsNothingAtOtherPointers(_ pointer: String) throws {
        let value = try JSONValue(parsing: #"{"a/b":{"~":[10,20]},"":1}"#)
        #expect(value[try #require(JSONPointer(pointer))] == nil)
    }

    @Test(arguments: ["a", "/~", "/~2", "a/b"])
    func refusesOtherPointerTexts(_ text: String) { #expect(JSONPointer(text) == nil) }

    @Test(arguments: ["", "/", "/a~1b/~0/1", "//", "/~01"])
    func printsPointersAsTheyWereRead(_ text: String) { #expect(JSONPointer(text)?.description == text) }

    @Test func theLastDuplicateWinsAndAllAreReported() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":[{"c":1,"\u0063":2,"c":3}],"a":2,"z":{"a":1}}"#)
        #expect(value["a"]?.int64 == 2)
        #expect(value["b"]?[0]?["c"]?.int64 == 3)
        #expect(value.members?.map(\.key) == ["b", "a", "z"])
        #expect(value.duplicateKeys.map(\.description) == ["/a", "/b/0/c"])
        #expect(value.text == #"{"b":[{"c":3}],"a":2,"z":{"a":1}}"#)
    }

    @Test func duplicatesAreFoundAmongManyMembers() throws {
        let members = (0..<100).map { #""k\#($0 % 90)":\#($0)"# }.joined(separator: ",")
        let value = try JSONValue(parsing: "{\(members)}")
        #expect(value.duplicateKeys.map(\.description) == (0..<10).map { "/k\($0)" })
        #expect(value["k9"]?.int64 == 99)
        #expect(value.members?.count == 90)
    }

    @Test func keysAreComparedByScalars() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"]?.int64 == 1)
        #expect(value["e\u{301}"]?.int64 == 2)
        #expect(value.duplicateKeys.isEmpty)
        #expect(value.members?.count == 2)
        #expect(JSONValue("\u{E9}") != JSONValue("e\u{301}"))
        let swapped = try JSONValue(parsing: "{\"e\u{301}\":1,\"\u{E9}\":2}")
        #expect(value != swapped)
    }

    @Test(arguments: [
        ("1", "1.0"), ("1", "10e-1"), ("100", "1e2"), ("0", "-0"), ("0", "0e99"), ("-1.50", "-15E-1"),
        ("12345678901234567890123", "12345678901234567890123.000"), (#""A""#, #""\u0041""#), ("[1,2]", "[ 1.0 , 2 ]"),
        (#"{"a":1,"b":{"c":[]}}"#, #"{"b":{"c":[ ]},"a":1}"#), (#"{"a":0,"a":1}"#, #"{"a":1}"#), ("1e400", "10e399"),
        ("1e123456789012345678901", "1e123456789012345678901"),
    ])
    func valuesOfOneMeaningAreEqual(left: String, right: String) throws {
        let (left, right) = (try JSONValue(parsing: left), try JSONValue(parsing: right))
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
    }

    @Test(arguments: [
        ("1", "2"), ("1", #""1""#), ("1", "true"), ("0", "null"), ("[1,2]", "[2,1]"), ("[1]", "[1,1]"), ("{}", "[]"),
        (#"{"a":1}"#, #"{"a":1,"b":1}"#), (#"{"a":1}"#, #"{"b":1}"#), ("9007199254740993", "9007199254740992"),
        ("12345678901234567890", "12345678901234567891"), ("1e400", "1e401"), ("1", "-1"), (#""a""#, #""A""#),
    ])
    func otherValuesAreNotEqual(left: String, right: String) throws {
        #expect(try JSONValue(parsing: left) != JSONValue(parsing: right))
    }

    @Test func builtValuesEqualParsedOnes() throws {
        let built: JSONValue = ["s": "x", "n": -3, "d": 1.5, "t": true, "z": nil, "a": [1, [], [:]]]
        let parsed = try JSONValue(parsing: #"{"s":"x","n":-3,"d":1.5,"t":true,"z":null,"a":[1,[],{}]}"#)
        #expect(built == parsed)
        #expect(built.hashValue == parsed.hashValue)
        #expect(built.text == parsed.text)
        #expect(built["s"]?.string == "x")
        #expect(built["a"]?[0]?.int64 == 1)
        #expect(built["z"] != nil)
        #expect(built["y"] == nil)
        #expect(JSONValue(Double.infinity) == nil)
        #expect(JSONValue.object([("a", 1), ("a", 2)])["a"] == 2)
    }

    @Test func aSubtreeKeepsWorkingAfterItsDocumentIsGone() throws {
        func inner() throws -> JSONValue? { try JSONValue(parsing: #"{"a":{"b":["x",2]}}"#)["a"]?["b"] }
        #expect(try inner()?.text == #"["x",2]"#)
    }
}
