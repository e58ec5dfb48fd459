import Testing

@testable import KiiPushActivation
@testable import KiiPushCore

@Suite struct ActivationMessageTests {
    private let message = ActivationMessage(
        id: 7, attempt: 2, timeRemaining: .milliseconds(29_999), userAction: nil, installationID: "i1",
        receivedAt: Timestamp(millisecondsSinceEpoch: 1_700_000_000_000), payload: Array(#"{"a": 1.0}"#.utf8))

    private func text(_ line: [UInt8]) -> String { String(decoding: line, as: UTF8.self) }

    @Test func aMessageIsOneLine() {
        #expect(
            self.text(self.message.line) == """
                {"id":7,"attempt":2,"deadlineMs":29999,"userOpened":false,"installation":"i1",\
                "receivedAt":1700000000000,"payload":"{\\"a\\": 1.0}"}

                """)
    }

    @Test(arguments: [nil, UserAction.open, .custom("reply"), .background("later")])
    func aMessageIsReadAsItWasWritten(action: UserAction?) throws {
        var message = self.message
        message.userAction = action
        message.badge = action == nil ? nil : 7
        message.payload = Array("{\"text\":\"a\\n\\u0000b\",\n\"deep\":\(String(repeating: "[", count: 63))".utf8)
        #expect(try ActivationMessage(line: message.line.dropLast()) == message)
    }

    @Test(arguments: [
        ActivationAnswer.ready(4), .verdict(id: 7, .result(.newData)), .verdict(id: 7, .result(.noData)),
        .verdict(id: 7, .result(.failed)), .verdict(id: -1, .rejected("a \"reason\"\n")),
        .state(.active), .state(.inactive), .state(.background), .late(id: 7), .badge(0), .badge(3),
        .ready(4, wantsBadge: true),
    ])
    func anAnswerIsReadAsItWasWritten(answer: ActivationAnswer) throws {
        #expect(try ActivationAnswer(line: answer.line.dropLast()) == answer)
    }

    @Test func aLineAboutTheBadgeIsNoMessage() throws {
        let line = ActivationLine.badge(7).line
        #expect(self.text(line) == "{\"badge\":7}\n")
        #expect(try ActivationLine(line: line.dropLast()) == .badge(7))
        var message = self.message
        message.badge = 0
        #expect(try ActivationLine(line: message.line.dropLast()) == .message(message))
    }

    @Test(arguments: [
        ("", "the document is not JSON: the document is empty; send a value"),
        (
            "nonsense",
            "the document is not JSON at byte 1: a byte is out of place; check commas, colons, quotes and brackets"
        ),
        ("[]", "/id is missing"),
        (#"{"id":"7","result":"newData"}"#, "/id must be a whole number"),
        (#"{"id":7}"#, "/result is missing"),
        (#"{"id":7,"result":"done"}"#, "/result must be newData, noData, failed, late or reject"),
        (#"{"ready":0}"#, "/ready must be 1 or more"),
        (#"{"ready":true}"#, "/ready must be a whole number"),
        (#"{"state":"notRunning"}"#, "/state must be active, inactive or background"),
        (#"{"state":1}"#, "/state must be active, inactive or background"),
        (#"{"badge":"7"}"#, "/badge must be a whole number"),
    ])
    func whatIsNoAnswerIsRefusedWithoutRepeatingIt(line: String, reason: String) {
        let error = #expect(throws: JSONMemberError.self) { try ActivationAnswer(line: Array(line.utf8)) }
        #expect(error?.description == reason)
    }

    @Test(arguments: [
        (#"{"id":1}"#, "/attempt is missing"),
        (#"{"id":1,"attempt":0}"#, "/attempt must be 1 or more"),
        (#"{"id":1,"attempt":1,"deadlineMs":1,"userOpened":1}"#, "/userOpened must be true or false"),
    ])
    func whatIsNoMessageIsRefused(line: String, reason: String) {
        let error = #expect(throws: JSONMemberError.self) { try ActivationMessage(line: Array(line.utf8)) }
        #expect(error?.description == reason)
    }

    @Test func bytesAreCutIntoLinesWhereverTheyAreSplit() {
        let bytes = Array("ab\n\ncd\nef".utf8)
        for split in 0...bytes.count {
            var buffer = LineBuffer()
            let lines = buffer.lines(from: bytes[..<split]) + buffer.lines(from: bytes[split...])
            #expect(lines == [Array("ab".utf8), [], Array("cd".utf8)])
        }
    }

    @Test func aLineThatIsTooLongIsThrownAwayToItsEnd() {
        var buffer = LineBuffer(limit: 3)
        #expect(buffer.lines(from: Array("abcd".utf8)) == [nil])
        #expect(buffer.lines(from: Array("e\nabc\n".utf8)) == [Array("abc".utf8)])
    }
}
