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
        let pretty = String(decoding: value.serialized(pretty: true, sortedKeys: true), as: UTF8.self)
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

    @Test func sortsKeysByScalarsAtEveryLevel() throws {
        let value = try JSONValue(parsing: #"{"b":{"z":1,"é":2,"A":3},"a":0,"":1,"B":2}"#)
        let sorted = String(decoding: value.serialized(sortedKeys: true), as: UTF8.self)
        #expect(sorted == #"{"":1,"B":2,"a":0,"b":{"A":3,"z":1,"é":2}}"#)
    }
}
