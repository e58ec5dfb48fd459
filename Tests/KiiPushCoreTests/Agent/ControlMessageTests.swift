import Testing

@testable import KiiPushCore

@Suite struct ControlMessageTests {
    private static let connection = PushEvent.Connection(
        host: "broker", port: 1883, usesTLS: true, usesWebSocket: true, isVerified: true, protocolVersion: "3.1.1",
        qualityOfService: 0, sessionPresent: true)

    private static let kinds: [MessageEvent.Kind] =
        [
            .received, .stored, .acknowledged, .duplicate, .isolated(attempt: 2), .started(attempt: 2),
            .done(.newData, attempt: 3, isLate: false), .done(.noData, attempt: 1, isLate: false),
            .unreached(attempt: 1), .presented, .opened(.open), .opened(.custom("reply")), .dismissed,
            .handedBack(.unanswered), .done(.newData, attempt: 4, isLate: true), .late(attempt: 1),
            .stuck(attempt: 5), .setAside, .retried, .opened(.background("mute")),
        ]
        + [.failed, .threw("no: disk\n\"full\""), .unanswered, .timedOut].map {
            .failed(attempt: 1, $0, retryAfter: .milliseconds(1500))
        }
        + [
            .attemptsFailed(.threw("x")), .attemptsFailed(.failed), .rejected("never"), .rejected(""), .crashed,
            .undecodable("/a: bad"), .command, .unexpectedTopic, .oversized(originalLength: 300_000),
            .other("oversized: 300000 bytes; cut"), .other(""),
        ].flatMap { [.dead($0, attempt: nil), .dead($0, attempt: 6)] }

    private static let events: [PushEvent] =
        [
            .connecting(host: "::1", port: 1, usesTLS: false), .connected(Self.connection),
            .disconnected(reason: "gone", retryIn: .seconds(2)),
            .adopted(fromInstallation: "i", messages: 7),
            .inboxMovedAside(path: "/a", reason: "b", takenOver: 3, lost: nil),
            .inboxMovedAside(path: "/a", reason: "b", takenOver: 3, lost: 4), .stopping,
        ]
        + PushEvent.Trouble.allCases.flatMap { [.trouble($0, reason: "full"), .recovered($0)] }
        + PushEvent.Notice.allCases.flatMap { [.notice($0, reason: "r"), .notice($0, reason: "r", messages: 7)] }

    private func sent(_ line: [UInt8]?) throws -> [UInt8] {
        let line = try #require(line)
        var lines = ControlLines()
        return try #require(lines.take(line)?.first)
    }

    @Test(arguments: kinds) func eventsOfMessagesArrive(kind: MessageEvent.Kind) throws {
        for isKept in [true, false] {
            let event = MessageEvent(messageID: .max, at: .now(), kind: kind, isKept: isKept)
            let reply = try #require(ControlReply(line: self.sent(ControlReply.event(.message(event)).line)))
            guard case .event(.message(let arrived)) = reply else {
                Issue.record("\(reply)")
                continue
            }
            #expect(arrived == event)
        }
    }

    @Test(arguments: [
        #"{"q":"\"\\\/\b\u00e9\ud83d\ude00","é":"日本e\#u{301}"}"#,
        "{\"n\" : -12345678901234567890123.4500e+07,\n\t\"n\":1e999,\r\"a\":[[{}]]}",
        #"{"to":"t","aps":{"alert":"x"},"installation":"other","payload":"{}"}"#,
    ])
    func whatWasReceivedArrivesByteForByte(payload: String) throws {
        var event = MessageEvent(messageID: 7, at: .now(), kind: .started(attempt: 2))
        event.call = .handler(
            try ReceivedMessage(payload: Array(payload.utf8)),
            DeliveryContext(installationID: "i\n\"", messageID: 7, receivedAt: .now(), attempt: 2))
        let reply = try #require(ControlReply(line: self.sent(ControlReply.event(.message(event)).line)))
        guard case .event(.message(let arrived)) = reply else {
            Issue.record("another event arrived")
            return
        }
        #expect(arrived == event)
        #expect(arrived.message?.payloadBytes == Array(payload.utf8))
    }

    @Test(arguments: [
        "", #","payload":"{}""#, #","receivedAt":1,"installation":"i","payload":"{""#,
        #","receivedAt":1,"installation":"i","payload":"{\"commandID\":\"c\",\"actions\":[{}]}""#,
    ])
    func aLineWithoutAMessageIsAnEventStill(members: String) throws {
        let line = #"{"event":{"message":7,"at":1,"kept":false,"kind":6,"attempt":2\#(members)}}"#
        guard case .event(.message(let event))? = ControlReply(line: Array(line.utf8)) else {
            Issue.record("no event of a message arrived")
            return
        }
        #expect(event.kind == .started(attempt: 2))
        #expect(event.message == nil)
    }

    @Test func thatAMessageIsNotToldArrives() throws {
        var event = MessageEvent(messageID: 7, at: .now(), kind: .started(attempt: 2))
        event.call = .omitted
        guard
            case .event(.message(let arrived))? = try ControlReply(
                line: self.sent(ControlReply.event(.message(event)).line))
        else {
            Issue.record("no event of a message arrived")
            return
        }
        #expect(arrived == event)
    }

    @Test(arguments: events) func otherEventsArrive(event: PushEvent) throws {
        let reply = try #require(ControlReply(line: self.sent(ControlReply.event(event).line)))
        guard case .event(let arrived) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect("\(arrived)" == "\(event)")
    }

    @Test(arguments: [ControlRequest.watch, .decide(.retry, 1), .decide(.drop, .max)])
    func requestsArrive(request: ControlRequest) throws {
        #expect(try ControlRequest(line: self.sent(request.line)) == request)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"v":2,"ask":"watch"}"#, #"{"v":1,"ask":"retry"}"#, #"{"v":1,"ask":"retry","id":"1"}"#,
        #"{"v":1,"ask":"stop"}"#,
    ]) func whatIsNoRequestIsNone(line: String) {
        #expect(ControlRequest(line: Array(line.utf8)) == nil)
        #expect(ControlReply(line: Array(line.utf8)) == nil)
    }

    @Test func linesAreTakenOutWhereverTheyAreCut() {
        let bytes = Array("one\n\ntwo\nthree".utf8)
        for cut in 0...bytes.count {
            var lines = ControlLines()
            let taken = (lines.take(bytes[..<cut]) ?? []) + (lines.take(bytes[cut...]) ?? [])
            #expect(taken.map { String(decoding: $0, as: UTF8.self) } == ["one", "", "two"])
        }
        var lines = ControlLines()
        #expect(lines.take([UInt8](repeating: 1, count: ControlLines.maximumBytes)) != nil)
        #expect(lines.take([1]) == nil)
    }
}
