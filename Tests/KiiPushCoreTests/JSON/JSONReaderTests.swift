import Testing

@testable import KiiPushCore

@Suite struct JSONReaderTests {
    private static func document(_ text: String) throws(JSONMemberError) -> JSONDocument {
        try JSONDocument(strict: Array(text.utf8))
    }

    @Test func membersAreReadByType() throws {
        let reader = try Self.document(#"{"a":{"b":[1,"x",true]},"null":null}"#)
        let elements = try reader.required("a").required("b").elements()
        #expect(try elements[0].integer() == 1)
        #expect(try elements[1].text() == "x")
        #expect(try elements[2].flag())
        #expect(elements[1].pointer.description == "/a/b/1")
        #expect(reader["null"] != nil)
        #expect(reader.present("null") == nil)
        #expect(reader["absent"] == nil)
    }

    @Test(arguments: [
        ("{\n  \"é\": [1, 2, \"x\"]}", "/é/2 must be a whole number", "2:15"),
        ("{\n \"é\": 7}", "/é must be an array", "2:7"),
        ("{\"b\": {\"c\":\n1}}", "/b/c is unknown; there is d, e", "2:1"),
        (#"{"b": 1}"#, "/b must be an object", "1:7"),
        ("{\n}", "/é is missing", "1:1"),
        ("{\"é\": [],\n\"é\": []}", "/é is there twice", "2:6"),
        ("{\n,}", "the document is not JSON at byte 2: a byte is out of place", "2:1"),
    ])
    func whatIsWrongHasItsPlace(text: String, words: String, place: String) {
        let error = #expect(throws: JSONMemberError.self) {
            let reader = try Self.document(text)
            try reader["b"]?.object(["d", "e"])
            for element in try reader.required("é").elements() { let _: Int = try element.integer() }
        }
        #expect(error?.description.hasPrefix(words) == true, "\(error?.description ?? "")")
        #expect(error?.place == place)
    }
}
