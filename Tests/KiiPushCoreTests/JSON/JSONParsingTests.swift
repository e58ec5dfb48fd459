import Testing

@testable import KiiPushCore

@Suite struct JSONParsingTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "12", "-1.5", "1e2", "1E+2", "1e-2", "0.0",
        "123456789012345678901234567890",
        #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\ud83d\ude00""#, "\"\u{7F}\"", "\"é€😀\"",
        #""\uFFFF""#, "[]", "{}", "[1,2]", #"{"":0}"#, " \t\r\n[ 1 , 2 ] ", #"{ "a" : { "b" : [ ] } }"#,
        #"{"a":1,"a":2}"#, "1e400", "\"\u{2028}\"", "\"\u{FFFE}\"", #""\\u12""#,
    ])
    func acceptsValidDocuments(_ text: String) throws {
        #expect(try JSONValue(parsing: text).kind == expectedKind(text))
    }

    /// The offset is the first byte that breaks a rule, or the start of the number, escape or character that does.
    @Test(arguments: [
        Refusal("", .empty, 0), Refusal(" \n ", .empty, 3), Refusal("\u{FEFF}1", .byteOrderMark, 0),
        Refusal("[", .unexpectedEnd, 1, "/0"), Refusal("[1", .unexpectedEnd, 2, "/0"),
        Refusal("[1,", .unexpectedEnd, 3, "/1"),
        Refusal("[1,]", .unexpectedByte, 3, "/1"), Refusal("[,1]", .unexpectedByte, 1, "/0"),
        Refusal("[1 2]", .unexpectedByte, 3, "/0"), Refusal("[1}", .unexpectedByte, 2, "/0"),
        Refusal("]", .unexpectedByte, 0), Refusal("{", .unexpectedEnd, 1), Refusal(#"{"a"#, .unexpectedEnd, 3),
        Refusal(#"{"a""#, .unexpectedEnd, 4, "/a"), Refusal(#"{"a":"#, .unexpectedEnd, 5, "/a"),
        Refusal(#"{"a" 1}"#, .unexpectedByte, 5, "/a"), Refusal(#"{"a":1,}"#, .unexpectedByte, 7),
        Refusal("{a:1}", .unexpectedByte, 1), Refusal("{1:1}", .unexpectedByte, 1),
        Refusal(#"{"a":1]"#, .unexpectedByte, 6, "/a"), Refusal("'a'", .unexpectedByte, 0),
        Refusal("tru", .unexpectedEnd, 3), Refusal("trux", .unexpectedByte, 3), Refusal("nul", .unexpectedEnd, 3),
        Refusal("True", .unexpectedByte, 0), Refusal("NaN", .unexpectedByte, 0),
        Refusal("Infinity", .unexpectedByte, 0),
        Refusal("-Infinity", .invalidNumber, 0), Refusal("truefalse", .trailingBytes, 4),
        Refusal("1 2", .trailingBytes, 2), Refusal("{}x", .trailingBytes, 2), Refusal("[]\0", .trailingBytes, 2),
        Refusal("\0", .unexpectedByte, 0), Refusal("/**/1", .unexpectedByte, 0), Refusal("1//", .trailingBytes, 1),
        Refusal("01", .invalidNumber, 0), Refusal("-01", .invalidNumber, 0), Refusal("[1.]", .invalidNumber, 1, "/0"),
        Refusal("1.", .unexpectedEnd, 2), Refusal(".5", .unexpectedByte, 0), Refusal("+1", .unexpectedByte, 0),
        Refusal("[-]", .invalidNumber, 1, "/0"), Refusal("-", .unexpectedEnd, 1), Refusal("1e", .unexpectedEnd, 2),
        Refusal("[1e+]", .invalidNumber, 1, "/0"), Refusal("1.e3", .invalidNumber, 0),
        Refusal("0x1", .trailingBytes, 1),
        Refusal("--1", .invalidNumber, 0), Refusal("1-1", .trailingBytes, 1),
        Refusal("\"\n\"", .controlCharacter, 1), Refusal("\"a\0\"", .controlCharacter, 2),
        Refusal("\"\t\"", .controlCharacter, 1), Refusal("\"\u{1F}\"", .controlCharacter, 1),
        Refusal(#"["a\x"]"#, .invalidEscape, 3, "/0"), Refusal(#""\u12G4""#, .invalidEscape, 1),
        Refusal(#""\u12""#, .invalidEscape, 1), Refusal(#""\u12"#, .unexpectedEnd, 5),
        Refusal(#""\U0041""#, .invalidEscape, 1), Refusal(#""\'""#, .invalidEscape, 1),
        Refusal(#""\"#, .unexpectedEnd, 2),
        Refusal(#""abc"#, .unexpectedEnd, 4),
        Refusal(#"{"k":"\ud800"}"#, .loneSurrogate, 6, "/k"), Refusal(#""\udc00""#, .loneSurrogate, 1),
        Refusal(#""\ud800\ud800""#, .loneSurrogate, 1), Refusal(#""\ud800a""#, .loneSurrogate, 1),
        Refusal(#""\ud800\n""#, .loneSurrogate, 1), Refusal(#""\ude00\ud83d""#, .loneSurrogate, 1),
        Refusal(#""\ud800"#, .unexpectedEnd, 7), Refusal(#""\ud800\u"#, .unexpectedEnd, 9),
        Refusal("[\"a\", 1", .unexpectedEnd, 7, "/1"),
        Refusal(#"{"a/b":{"~":[0,x]}}"#, .unexpectedByte, 15, "/a~1b/~0/1"),
        Refusal(#"{"\u0061":x}"#, .unexpectedByte, 10, "/a"),
        Refusal(#"{"a":[{}],"b":[[],}"#, .unexpectedByte, 18, "/b/1"),
    ])
    func refusesInvalidDocuments(_ refusal: Refusal) {
        expectRefusal(Array(refusal.text.utf8), refusal)
    }

    /// RFC 3629 section 4: each kind of ill-formed UTF-8, inside a string.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE],
            [0xFF], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98, 0x41], [0xE2, 0x82, 0x41],
        ] as [[UInt8]])
    func refusesIllFormedUTF8(_ sequence: [UInt8]) {
        for padding in 0..<9 {
            let text = Array(repeating: UInt8(ascii: "a"), count: padding)
            let document = Array(#"["ok",""#.utf8) + text + sequence + Array(#""]"#.utf8)
            expectRefusal(document, Refusal("", .invalidUTF8, 7 + padding, "/1"))
        }
    }

    @Test func acceptsEveryScalarAtTheEdgesOfUTF8() throws {
        for scalar in ["\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"] {
            #expect(try JSONValue(parsing: "\"\(scalar)\"").string == scalar)
        }
    }

    @Test func findsTheEndOfAStringOfAnyLength() throws {
        for length in 0...40 {
            let text = String(repeating: "x", count: length)
            let value = try JSONValue(parsing: #"["\#(text)","\#(text)\n"]"#)
            #expect(value.array == [JSONValue(text), JSONValue(text + "\n")])
        }
    }

    @Test func allowsSixtyFourLevelsAndNoMore() throws {
        let deepest = String(repeating: #"{"a":["#, count: 32) + String(repeating: "]}", count: 32)
        #expect(try JSONValue(parsing: deepest).kind == .object)
        let tooDeep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        let pointer = String(repeating: "/0", count: 64)
        expectRefusal(Array(tooDeep.utf8), Refusal("", .tooDeep, 64, pointer))
        expectRefusal(Array(repeating: UInt8(ascii: "["), count: 1_000_000), Refusal("", .tooDeep, 64, pointer))
    }

    @Test func limitsCanBeLowered() {
        #expect(throws: JSONError(code: .tooDeep, byteOffset: 1, pointer: JSONPointer(tokens: ["0"]))) {
            try JSONValue(parsing: Array("[[]]".utf8), maximumDepth: 1)
        }
        #expect(throws: JSONError(code: .tooLarge, byteOffset: 3, pointer: JSONPointer())) {
            try JSONValue(parsing: Array("[  ]".utf8), maximumBytes: 3)
        }
    }

    /// Deeper than the scanner counts: the outermost objects are closed as if they were arrays.
    private static let tooDeep =
        String(repeating: #"{"a":"#, count: 6) + String(repeating: "[", count: 64) + String(repeating: "]", count: 70)

    @Test func aDepthThatIsSetIsHeldToWhatTheScannerCan() {
        let error = #expect(throws: JSONError.self) {
            try JSONValue(parsing: Array(Self.tooDeep.utf8), maximumDepth: 1000)
        }
        #expect(error?.code == .tooDeep)
    }

    @Test func errorsHoldNoValueOfTheDocumentAndFitOneLine() {
        let error = #expect(throws: JSONError.self) {
            try JSONValue(parsing: #"{"password":"hunter2","line\nbreak":tru}"#)
        }
        let text = String(reflecting: error) + String(describing: error)
        #expect(!text.contains("hunter2"))
        #expect(error?.description.contains("\n") == false)
        #expect(error?.description.contains("byte 39") == true)
    }
}

struct Refusal: Sendable, CustomTestStringConvertible {
    var text: String
    var code: JSONError.Code
    var offset: Int
    var pointer: String

    init(_ text: String, _ code: JSONError.Code, _ offset: Int, _ pointer: String = "") {
        self.text = text
        self.code = code
        self.offset = offset
        self.pointer = pointer
    }

    var testDescription: String { "\(self.text.debugDescription): \(self.code)" }
}

private func expectRefusal(_ bytes: [UInt8], _ refusal: Refusal, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: JSONError.self, sourceLocation: sourceLocation) { try JSONValue(parsing: bytes) }
    #expect(error?.code == refusal.code, sourceLocation: sourceLocation)
    #expect(error?.byteOffset == refusal.offset, sourceLocation: sourceLocation)
    #expect(error?.pointer.description == refusal.pointer, sourceLocation: sourceLocation)
}

private func expectedKind(_ text: String) -> JSONValue.Kind {
    switch text.first(where: { !$0.isWhitespace }) {
    case "n": .null
    case "t", "f": .bool
    case "\"": .string
    case "[": .array
    case "{": .object
    default: .number
    }
}
