import KiiPushCore
import Testing

@Suite struct JSONWriterTests {
    @Test(arguments: [
        ("a\"b\\c/d", #""a\"b\\c/d""#), ("\u{8}\u{C}\n\r\t", #""\b\f\n\r\t""#),
        ("\0\u{1F}\u{7F}", "\"\\u0000\\u001f\u{7F}\""),
        ("é€😀", "\"é€😀\""), ("", #""""#),
    ])
    func escapesWhatMustBeEscapedAndNothingElse(string: String, text: String) {
        #expect(JSONValue(string).text == text)
    }

    @Test func dropsWhiteSpaceAndKeepsOrderAndNumbers() throws {
        let value = try JSONValue(parsing: " { \"b\" : [ 1.0 , true , null ] , \"a\" : { } }\n")
        #expect(value.text == #"{"b":[1.0,true,null],"a":{}}"#)
    }

    @Test func printsPrettily() throws {
        let value = try JSONValue(parsing: #"{"b":[1,{"x":null}],"a":{},"c":[]}"#)
        let pretty = String(decoding: value.serialized(.lines, sortedKeys: true), as: UTF8.self)
        #expect(
            pretty == """
                {
                  "a": {},
                  "b": [
                    1,
                    {
                      "x": null
                    }
                  ],
                  "c": []
                }
                """)
    }

    /// The white space of the answers in Kii's guides, to the byte.
    @Test func printsAsKiiDoes() throws {
        let value = try JSONValue(
            parsing: #"{"topics":[{"topicID":"a","more":{"x":[1,"b"]}},{"topicID":"c"}],"none":[],"empty":{}}"#)
        #expect(
            String(decoding: value.serialized(.kii), as: UTF8.self) == """
                {
                  "topics" : [ {
                    "topicID" : "a",
                    "more" : {
                      "x" : [ 1, "b" ]
                    }
                  }, {
                    "topicID" : "c"
                  } ],
                  "none" : [ ],
                  "empty" : { }
                }
                """)
    }

    @Test func sortsKeysByScalarsAtEveryLevel() throws {
        let value = try JSONValue(parsing: #"{"b":{"z":1,"é":2,"A":3},"a":0,"":1,"B":2}"#)
        let sorted = String(decoding: value.serialized(sortedKeys: true), as: UTF8.self)
        #expect(sorted == #"{"":1,"B":2,"a":0,"b":{"A":3,"z":1,"é":2}}"#)
    }

    @Test(arguments: [
        (#"{"a":1,"b":2,"a":3}"#, #"{"b":2,"a":3}"#), (#"{"a":1,"\u0061":2}"#, #"{"a":2}"#),
        (#"{"\n":1,"\u000a":2,"c":[{"d":1,"d":2}]}"#, #"{"\n":2,"c":[{"d":2}]}"#),
        ("{\"\u{e9}\":1,\"e\u{301}\":2}", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
        (#"{"":1,"":2}"#, #"{"":2}"#),
    ])
    func writesTheLastOfTheMembersWithOneKey(document: String, text: String) throws {
        let parsed = try JSONValue(parsing: document)
        #expect(parsed.text.utf8.elementsEqual(text.utf8))
        let built = JSONValue(members: parsed.members ?? [])
        #expect(built.text.utf8.elementsEqual(text.utf8))
    }

    @Test(arguments: [31, 32, 33, 100])
    func writesTheLastAlsoAmongManyMembers(count: Int) throws {
        let members = (0..<count).map { #""key \#($0)":\#($0)"# }
        let document = "{" + (members + [#""key 0":"again""#]).joined(separator: ",") + "}"
        let text = "{" + (members.dropFirst() + [#""key 0":"again""#]).joined(separator: ",") + "}"
        #expect(try JSONValue(parsing: document).text == text)
    }
}
