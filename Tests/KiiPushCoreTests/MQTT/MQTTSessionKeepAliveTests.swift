import KiiPushCore
import Testing

@Suite struct MQTTSessionKeepAliveTests {
    static let missed: [Conversation.Said] = [.event(.keepAliveMissed), .close(.atOnce)]

    @Test func pingsWhenTheIntervalIsOver() {
        var client = Conversation.connected()
        #expect(client.deadline == 60_000)
        #expect(client.timer(at: 59_999).isEmpty)
        #expect(client.timer(at: 60_000) == [.sent(.pingreq)])
        #expect(client.timer(at: 60_000).isEmpty)
        #expect(client.deadline == 80_000)
        #expect(client.broker(.pingresp, at: 60_050).isEmpty)
        #expect(client.deadline == 120_000)
        #expect(client.timer(at: 120_000) == [.sent(.pingreq)])
    }

    @Test func aSilentBrokerIsGone() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        #expect(client.timer(at: 79_999).isEmpty)
        #expect(client.timer(at: 80_000) == Self.missed)
        #expect(client.deadline == nil)
        #expect(client.timer(at: 90_000).isEmpty)
    }

    /// A few bytes now and then must not hold a connection whose broker is gone.
    @Test func bytesThatMakeNoMessagePutNothingOff() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        #expect(client.bytes([0x30, 100], at: 61_000).isEmpty)
        for time in stride(from: 62_000, to: 80_000, by: 1000) { _ = client.bytes([0x00], at: time) }
        #expect(client.deadline == 80_000)
        #expect(client.timer(at: 80_000) == Self.missed)
    }

    @Test func packetsThatAreNoMessagesPutNothingOff() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        _ = client.broker(.pubrel(packetID: 7), at: 79_000)
        #expect(client.timer(at: 80_000) == Self.missed)
    }

    /// The broker may have sent these messages before it read PINGREQ.
    @Test func wholeMessagesPutTheAnswerOff() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        let bytes = MQTTPacket.publish("a").bytes
        _ = client.bytes(Array(bytes.dropLast()), at: 70_000)
        #expect(client.deadline == 80_000)
        _ = client.bytes([bytes[bytes.count - 1]], at: 75_000)
        #expect(client.deadline == 95_000)
        #expect(client.timer(at: 94_999).isEmpty)
        #expect(client.timer(at: 95_000) == Self.missed)
    }

    @Test func threeKeepAlivesAreTheMostThatMessagesPutItOffBy() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        for time in stride(from: 61_000, to: 260_000, by: 1000) {
            #expect(!client.timer(at: time).contains(.close(.atOnce)), "\(time)")
            _ = client.broker(.publish("a"), at: time)
        }
        #expect(client.timer(at: 260_000) == Self.missed)
    }

    /// mosquitto sends the messages of a kept session before SUBACK, which takes long on a slow link.
    @Test func wholeMessagesPutSubackOff() {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted(sessionPresent: true))
        #expect(client.deadline == 10_000)
        for time in stride(from: 9_000, through: 63_000, by: 9_000) {
            #expect(!client.timer(at: time).contains(.close(.atOnce)), "\(time)")
            _ = client.broker(.publish("a"), at: time)
        }
        #expect(client.deadline == 73_000)
        #expect(
            client.broker(.granted(.atLeastOnce), at: 72_000).contains(
                .event(.connected(sessionPresent: true, grantedQoS: .atLeastOnce))))
    }

    @Test func threeKeepAlivesAreTheMostThatMessagesPutSubackOffBy() {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted(sessionPresent: true))
        for time in stride(from: 1000, to: 190_000, by: 1000) {
            #expect(!client.timer(at: time).contains(.close(.atOnce)), "\(time)")
            _ = client.broker(.publish("a"), at: time)
        }
        #expect(client.timer(at: 190_000) == [.event(.timedOut(waitingFor: .suback)), .close(.atOnce)])
    }

    @Test func aBusyBrokerIsStillPinged() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        for time in stride(from: 61_000, to: 120_000, by: 1000) { _ = client.broker(.publish("a"), at: time) }
        #expect(client.timer(at: 120_000) == [.sent(.pingreq)])
        // The answer to the first PINGREQ leaves the second PINGREQ unanswered.
        #expect(client.broker(.pingresp, at: 121_000).isEmpty)
        #expect(client.deadline == 141_000)
        #expect(client.broker(.pingresp, at: 122_000).isEmpty)
        #expect(client.deadline == 180_000)
    }

    @Test func messagesDoNotPutThePingOff() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1), at: 59_000)
        _ = client.acknowledge(1)
        #expect(client.deadline == 60_000)
        #expect(client.timer(at: 60_000) == [.sent(.pingreq)])
    }

    @Test func aPausedReaderPingsAndDoesNotWait() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        client.session.readingPaused(true, now: .at(70_000))
        #expect(client.deadline == 120_000)
        #expect(client.timer(at: 120_000) == [.sent(.pingreq)])
        #expect(client.timer(at: 180_000) == [.sent(.pingreq)])
        client.session.readingPaused(true, now: .at(190_000))
        client.session.readingPaused(false, now: .at(200_000))
        // 10 of the 20 s had passed when reading was paused.
        #expect(client.deadline == 210_000)
        #expect(client.broker(.pingresp, .pingresp, .pingresp, at: 201_000).isEmpty)
        #expect(client.deadline == 240_000)
    }

    @Test func theTimeStandsStillWhileReadingIsPaused() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        client.session.readingPaused(true, now: .at(70_000))
        client.session.readingPaused(false, now: .at(100_000))
        #expect(client.deadline == 110_000)
        #expect(client.timer(at: 109_999).isEmpty)
        #expect(client.timer(at: 110_000) == Self.missed)
    }

    /// A full inbox pauses and resumes reading all the time. A dead broker must still be noticed.
    @Test func manyPausesDoNotKeepADeadConnection() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        for second in stride(from: 61, to: 120, by: 3) {
            client.session.readingPaused(true, now: .at(second * 1000))
            client.session.readingPaused(false, now: .at((second + 2) * 1000))
        }
        #expect(client.timer(at: 120_000).contains(.event(.keepAliveMissed)))
    }

    @Test func aPauseOutlivesTheConnection() {
        var client = Conversation()
        client.session.readingPaused(true, now: .at(0))
        client.reconnect()
        _ = client.timer(at: 60_000)
        #expect(client.deadline == 120_000)
    }

    @Test func zeroSwitchesItOff() {
        var client = Conversation.connected { $0.keepAlive = .zero }
        #expect(client.deadline == 300_000)  // the end of the redelivery window
        #expect(client.timer(at: 299_999).isEmpty)
        #expect(client.timer(at: 300_000) == [.event(.redeliveryWindowPassed)])
        #expect(client.deadline == nil)
    }

    @Test func aShortIntervalBoundsTheWait() {
        var client = Conversation.connected { $0.keepAlive = .seconds(5) }
        #expect(client.timer(at: 5000) == [.sent(.pingreq)])
        #expect(client.timer(at: 10_000) == Self.missed)
    }

    @Test func pingsWhileSubackIsOnItsWay() {
        var client = Conversation {
            $0.connectTimeout = .seconds(50)
            $0.keepAlive = .seconds(30)
        }
        _ = client.open()
        #expect(client.timer(at: 30_000).isEmpty)
        _ = client.broker(.accepted(sessionPresent: true), at: 40_000)
        #expect(client.deadline == 70_000)
        #expect(client.timer(at: 70_000) == [.sent(.pingreq)])
        _ = client.broker(.granted(.atLeastOnce), at: 75_000)
        #expect(client.deadline == 95_000)
        #expect(client.timer(at: 95_000) == Self.missed)
    }

    @Test func aLateTimerDoesOneThing() {
        var client = Conversation.connected()
        #expect(client.timer(at: 200_000) == [.sent(.pingreq)])
        #expect(client.deadline == 220_000)
    }

    @Test func anAnswerToNothingIsIgnored() {
        var client = Conversation.connected()
        #expect(client.broker(.pingresp, .pingresp).isEmpty)
        #expect(client.timer(at: 60_000) == [.sent(.pingreq)])
        #expect(client.timer(at: 80_000) == Self.missed)
    }

    @Test func aProbeAsksAtOnceAndWaitsAShortTimeOnly() {
        var client = Conversation.connected()
        #expect(client.probe(within: 5000, at: 10_000) == [.sent(.pingreq)])
        #expect(client.deadline == 15_000)
        #expect(client.timer(at: 14_999).isEmpty)
        #expect(client.timer(at: 15_000) == Self.missed)
    }

    @Test func anAnsweredProbeLeavesTheKeepAliveAsItWas() {
        var client = Conversation.connected()
        _ = client.probe(within: 5000, at: 10_000)
        #expect(client.broker(.pingresp, at: 11_000).isEmpty)
        #expect(client.deadline == 70_000)
        #expect(client.timer(at: 70_000) == [.sent(.pingreq)])
        #expect(client.deadline == 90_000)
    }

    @Test func aProbeCutsTheWaitForAnEarlierAnswerShort() {
        var client = Conversation.connected()
        _ = client.timer(at: 60_000)
        _ = client.probe(within: 5000, at: 61_000)
        #expect(client.deadline == 66_000)
        // The first answer shows that the broker is alive. The answer to the probe then has the ordinary timeout.
        _ = client.broker(.pingresp, at: 62_000)
        #expect(client.deadline == 82_000)
        _ = client.broker(.pingresp, at: 62_000)
        #expect(client.deadline == 121_000)
    }

    @Test func aProbeWithoutAKeepAliveWaitsAllTheSame() {
        var client = Conversation.connected { $0.keepAlive = .zero }
        #expect(client.probe(within: 5000, at: 1000) == [.sent(.pingreq)])
        #expect(client.timer(at: 6000) == Self.missed)
    }

    @Test func nothingIsProbedWhileTheConnectionComesAbout() {
        var client = Conversation()
        #expect(client.probe(within: 5000, at: 0).isEmpty)
        _ = client.open()
        #expect(client.probe(within: 5000, at: 1000).isEmpty)
        _ = client.broker(.accepted(), at: 2000)
        #expect(client.probe(within: 5000, at: 3000).isEmpty)
        #expect(client.deadline == 12_000)
    }

    /// The time within which TCP must acknowledge sent bytes.
    @Test(arguments: [(60, 20), (20, 20), (7, 7), (1, 5), (0, 20), (-1, 20), (100_000, 20)])
    func theSendTimeoutIsThatOfAnAnswer(keepAlive: Int64, timeout: Int64) {
        let configuration = MQTTSession.Configuration(clientID: "t", topicFilter: "t", keepAlive: .seconds(keepAlive))
        #expect(configuration.sendTimeout == .seconds(timeout))
    }

    @Test func theRedeliveryWindowPassesOnceAConnection() {
        var client = Conversation.connected { $0.redeliveryWindow = .seconds(90) }
        _ = client.timer(at: 60_000)
        _ = client.broker(.pingresp, at: 60_000)
        #expect(client.deadline == 90_000)
        #expect(client.timer(at: 90_000) == [.event(.redeliveryWindowPassed)])
        #expect(client.deadline == 120_000)
        client.reconnect(sessionPresent: true, at: 100_000)
        #expect(client.timer(at: 190_000) == [.event(.redeliveryWindowPassed), .sent(.pingreq)])
    }
}
