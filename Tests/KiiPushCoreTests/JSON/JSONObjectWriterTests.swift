import KiiPushCore
import Testing

@Suite struct JSONObjectWriterTests {
    @Test func writesWhatATreeWouldBeWrittenAs() throws {
        let parsed = try JSONValue(parsing: #"[1.0, "é\u0000", {"a": null}]"#)
        let bytes = JSONObjectWriter.bytes { line in
            line.add("text", "a\"\n")
            line.add("least", Int64.min)
            line.add("none") { _ in }
            line.add("one") { $0.add("two") { $0.add("k\\", Int64(2)) } }
            line.add([("list", parsed), ("flag", true)])
        }
        let tree = JSONValue.object([
            ("text", "a\"\n"), ("least", JSONValue(Int64.min)), ("none", [:]), ("one", ["two": ["k\\": 2]]),
            ("list", parsed), ("flag", true),
        ])
        #expect(bytes == tree.serialized())
    }

    @Test func writesAnObjectWithoutMembers() {
        #expect(JSONObjectWriter.bytes { _ in } == Array("{}".utf8))
    }

    @Test func aTextThatEndsInABraceIsNotTheBeginningOfAnObject() {
        let bytes = JSONObjectWriter.bytes { line in
            line.add("a", "{")
            line.add("b", JSONValue(["{"]))
            line.add("c", "")
        }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"a":"{","b":["{"],"c":""}"#)
    }
}
