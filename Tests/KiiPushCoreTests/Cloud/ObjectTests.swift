import KiiPushCore
import TestSupport
import Testing

@Suite struct ObjectTests {
    private let reference = ObjectReference("o1", in: Bucket("notes"))

    private static let writes: [@Sendable (KiiClient, JSONValue) async throws -> Void] = [
        { _ = try await $0.session(testToken).createObject($1, in: Bucket("notes")) },
        { try await $0.session(testToken).putObject($1, as: ObjectReference("o1", in: Bucket("notes"))) },
        { try await $0.session(testToken).patchObject($1, of: ObjectReference("o1", in: Bucket("notes"))) },
    ]

    /// Fields that take `characters` characters as JSON. All but the frame are `character`.
    private static func fields(_ characters: Int, of character: Character = "x") -> JSONValue {
        ["k": JSONValue(String(repeating: character, count: characters - #"{"k":""}"#.count))]
    }

    @Test(
        arguments: [
            ([1], ""), ("x", ""), (nil, ""), (["a": 1, "_id": "x"], "/_id"), (["_": [:]], "/_"),
            (fields(65_535), ""), (fields(65_535, of: "ä"), ""),
        ] as [(JSONValue, String)])
    func fieldsThatKiiRefusesAreNotSent(fields: JSONValue, pointer: String) async throws {
        for write in Self.writes {
            let (requests, result) = await exchange(.status(200, "{}")) { try await write($0, fields) }
            let error = #expect(throws: KiiInputError.self) { try result.get() }
            #expect(error?.field == .fields)
            #expect(error?.pointer == JSONPointer(pointer))
            #expect(requests.isEmpty)
        }
    }

    @Test(arguments: [[:], ["a_": 1, "deep": ["_x": [nil]]], fields(65_534), fields(65_534, of: "ä")] as [JSONValue])
    func fieldsThatKiiTakesAreSent(_ fields: JSONValue) async throws {
        for write in Self.writes {
            let (requests, result) = await exchange(.status(200, #"{"objectID":"o"}"#)) { try await write($0, fields) }
            #expect(requests.map(\.body) == [fields.serialized()])
            guard case .failure(let error) = result else { continue }
            // A POST must be answered with 201.
            #expect((error as? KiiResponseError)?.rule == .other("has a status that this call never has"))
        }
    }

    @Test(arguments: ["", " ", "text/plain\r\nX: y", "text/plain ", "tëxt/plain"])
    func aMediaTypeThatWouldEndTheFieldIsNotSent(_ mediaType: String) async throws {
        let (requests, result) = await exchange(.status(200)) {
            try await $0.session(testToken).uploadBody([1], mediaType: mediaType, of: self.reference)
        }
        #expect(#expect(throws: KiiInputError.self) { try result.get() }?.field == .mediaType)
        #expect(requests.isEmpty)
    }

    @Test func aBodyIsSentByteForByte() async throws {
        let bytes = (0...255).map { UInt8($0) }
        let (requests, result) = await exchange(.status(200, #"{"modifiedAt":"9"}"#)) {
            try await $0.session(testToken).uploadBody(bytes, mediaType: "image/png; q=1", of: self.reference)
        }
        #expect(requests.map(\.body) == [bytes])
        #expect(requests.first?.fields.last == HTTPField("Content-Type", "image/png; q=1"))
        #expect(try result.get().modifiedAt == Timestamp(millisecondsSinceEpoch: 9))
    }

    @Test(
        arguments: [
            (#"{"createdAt":1,"modifiedAt":2,"_created":3,"_modified":4}"#, 3, 4),
            (#"{"createdAt":"in spring","modifiedAt":{},"_created":3,"_modified":4}"#, 3, 4),
            (#"{"_created":3,"_modified":4}"#, 3, 4),
            ("{}", nil, nil), ("", nil, nil), (#"{"createdAt":null,"_created":3}"#, 3, nil),
        ] as [(String, Int64?, Int64?)])
    func momentsAreReadUnderBothNames(reply: String, created: Int64?, modified: Int64?) async throws {
        let calls: [@Sendable (KiiClient) async throws -> StoredObject] = [
            { try await $0.session(testToken).putObject([:], as: ObjectReference("o1", in: Bucket("b"))) },
            { try await $0.session(testToken).patchObject([:], of: ObjectReference("o1", in: Bucket("b"))) },
            { try await $0.session(testToken).uploadBody([], of: ObjectReference("o1", in: Bucket("b"))) },
        ]
        for call in calls {
            let (_, result) = await exchange(.status(200, reply), body: call)
            let object = try result.get()
            #expect(object.createdAt?.millisecondsSinceEpoch == created)
            #expect(object.modifiedAt?.millisecondsSinceEpoch == modified)
        }
    }

    @Test(arguments: [
        ReplyRow("[]", "", .kind(.object)), ReplyRow(#"{"modifiedAt":[]}"#, "/modifiedAt", .noWholeNumber),
        ReplyRow(#"{"_created":1.5}"#, "/_created", .noWholeNumber),
    ])
    func aBadReplyIsNamedByItsPlace(_ row: ReplyRow) async throws {
        let (_, result) = await exchange(.status(200, row.reply)) {
            try await $0.session(testToken).patchObject(["a": 1], of: self.reference)
        }
        let error = #expect(throws: KiiResponseError.self) { try result.get() }
        #expect(error?.pointer == JSONPointer(row.pointer))
        #expect(error?.rule == row.rule)
    }

    @Test func aBodyIsReadByteForByteWithItsMediaType() async throws {
        let bytes = (0...255).map { UInt8($0) }
        let answer = HTTPResponse(status: 200, fields: [HTTPField("content-type", "image/png")], body: bytes)
        let (_, result) = await exchange(answer) { try await $0.session(testToken).body(of: self.reference) }
        let body = try result.get()
        #expect(body.bytes == bytes)
        #expect(body.mediaType == "image/png")
    }

    @Test(arguments: ["[]", "null", "1"])
    func anObjectIsAnObject(_ reply: String) async throws {
        let (_, result) = await exchange(.status(200, reply)) {
            try await $0.session(testToken).object(self.reference)
        }
        let error = #expect(throws: KiiResponseError.self) { try result.get() }
        #expect(error?.rule == .kind(.object))
        #expect(error?.pointer == JSONPointer())
    }
}
