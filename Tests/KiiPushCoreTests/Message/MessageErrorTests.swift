import KiiPushCore
import Testing

@Suite struct MessageErrorTests {
    @Test(arguments: [
        ("", JSONError.Code.empty, 0, ""), ("nonsense", .unexpectedByte, 1, ""), (#"{"a":1"#, .unexpectedEnd, 6, "/a"),
        (#"{"a":1}}"#, .trailingBytes, 7, ""), (#"{"a":[1,}"#, .unexpectedByte, 8, "/a/1"),
        (#"{"a":"\ud800"}"#, .loneSurrogate, 6, "/a"), (#"{"a":1,"b" 2}"#, .unexpectedByte, 11, "/b"),
        (#"{"a":1 "b":2}"#, .unexpectedByte, 7, "/a"), (#"{"a":1,}"#, .unexpectedByte, 7, ""),
        ("\u{FEFF}{}", .byteOrderMark, 0, ""), ("[1", .unexpectedEnd, 2, "/0"), ("{", .unexpectedEnd, 1, ""),
    ])
    func bytesThatAreNotJSONAreMalformed(text: String, code: JSONError.Code, offset: Int, pointer: String) {
        let error = #expect(throws: MessageError.self) { try ReceivedMessage(payload: Array(text.utf8)) }
        guard case .malformed(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.code == code)
        #expect(cause.byteOffset == offset)
        #expect(cause.pointer.description == pointer)
    }

    @Test func illFormedUTF8AndDeepNestingAreMalformed() {
        let deep = #"{"a":"# + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}"
        for bytes in [Array(#"{"a":""#.utf8) + [0xC0, 0x80] + Array(#""}"#.utf8), Array(deep.utf8)] {
            #expect(throws: MessageError.self) { try ReceivedMessage(payload: bytes) }
            #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
        }
        let deepest = #"{"a":"# + String(repeating: "[", count: 63) + String(repeating: "]", count: 63) + "}"
        #expect(throws: Never.self) { try ReceivedMessage(payload: Array(deepest.utf8)) }
    }

    @Test func aPayloadThatIsTooLongIsNamedAlikeByAll() {
        let bytes = Array("{}".utf8) + Array(repeating: UInt8(ascii: " "), count: 4_194_303)
        let parsing = #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
        let decoding = #expect(throws: MessageError.self) { try ReceivedMessage(payload: bytes) }
        guard let parsing, case .malformed(let decoding) = decoding else {
            Issue.record("\(String(describing: parsing)), \(String(describing: decoding))")
            return
        }
        #expect(parsing == decoding)
        #expect(parsing.description == "larger than 4194304 bytes: shorten it")
        #expect(MessageError.malformed(decoding).description == "the payload is larger than 4194304 bytes: shorten it")
    }

    @Test(arguments: [
        ("[]", JSONValue.Kind.array), ("1", .number), (#""x""#, .string), ("null", .null), ("true", .bool),
    ])
    func otherValuesAreNotAnObject(text: String, kind: JSONValue.Kind) {
        #expect(throws: MessageError.notAnObject(found: kind)) { try ReceivedMessage(payload: Array(text.utf8)) }
    }

    @Test(arguments: ["1", #""x""#, "[]"])
    func aPayloadThatIsSaidToBeAPNsHasNoContentWithoutAnObjectAps(_ aps: String) throws {
        let message = try ReceivedMessage(fromAPNS: Array(#"{"to":"t","aps":\#(aps)}"#.utf8))
        #expect(message.kind == .pushToUser)
        #expect(message.content == nil)
        #expect(message.findings.map(\.pointer.description) == ["/aps"])
        #expect(message.findings.map(\.expected) == ["an object"])
        #expect(try ReceivedMessage(fromAPNS: Array(#"{"aps":null}"#.utf8)).findings == [])
    }

    @Test(arguments: [
        #"{"commandID":"c-1","actions":[{"turnPower":{"power":true}}],"schema":"S","schemaVersion":1}"#,
        #"{"target":"thing:th.1","actions":{"a":1},"commandID":"c-1","issuer":"user:u","topic":"t","bucketID":"b"}"#,
    ])
    func aCommandIsRecognisedBeforeAnyPush(_ text: String) throws {
        let error = #expect(throws: MessageError.self) { try ReceivedMessage(payload: Array(text.utf8)) }
        guard case .thingCommand(let command) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let payload = try JSONValue(parsing: text)
        #expect(command.commandID == "c-1")
        #expect(command.actions == payload["actions"])
        #expect(command.rawPayload == payload)
        #expect(String(reflecting: error).contains("c-1") == false)
        #expect("\(command)" == "thing-if command")
    }

    @Test(arguments: [
        #"{"commandID":"c-1"}"#, #"{"actions":[]}"#, #"{"commandID":"c","actions":"a"}"#,
        #"{"commandID":1,"actions":[]}"#,
        #"{"aps":{},"commandID":"c","actions":[]}"#,
    ])
    func otherPayloadsWithThoseKeysArePushes(_ text: String) throws {
        #expect(try ReceivedMessage(payload: Array(text.utf8)).kind == .directPush)
    }

    @Test func errorsHoldNoValueOfThePayload() throws {
        for text in [#"{"x":"hunter2""#, #"["hunter2"]"#] {
            let error = #expect(throws: MessageError.self) { try ReceivedMessage(payload: Array(text.utf8)) }
            #expect(!"\(error as Any) \(String(reflecting: error))".contains("hunter2"))
            #expect(error?.description.contains("\n") == false)
        }
        for text in [#"{"topic":["hunter2"]}"#, #"{"aps":{"badge":"hunter2"}}"#] {
            let finding = try #require(ReceivedMessage(payload: Array(text.utf8)).findings.first)
            #expect(!"\(finding) \(String(reflecting: finding))".contains("hunter2"))
        }
    }
}
