import KiiPushCore
import Testing

@Suite struct MQTTSessionConnectionTests {
    @Test func saysConnectedAfterSubackOnly() {
        var client = Conversation()
        #expect(client.open() == [.sent(.connect())])
        #expect(client.broker(.accepted()) == [.event(.sessionMayBeNew), .sent(.subscribe())])
        #expect(!client.session.isConnected)
        #expect(
            client.broker(.granted(.atLeastOnce))
                == [.event(.connected(sessionPresent: false, grantedQoS: .atLeastOnce))])
        #expect(client.session.isConnected)
        #expect(client.session.generation == 1)
    }

    @Test func connectsWithWhatItWasGiven() {
        var client = Conversation {
            $0.clientID = "id"
            $0.username = "user"
            $0.password = "password"
            $0.cleanSession = true
            $0.keepAlive = .seconds(300)
        }
        let connect = MQTTConnect(
            clientID: "id", cleanSession: true, keepAlive: 300, username: "user", password: "password")
        #expect(client.open() == [.sent(.connect(connect))])
    }

    @Test(
        arguments: [
            (.zero, 0), (.seconds(-1), 0), (.milliseconds(1), 1), (.seconds(60), 60), (.milliseconds(60_001), 61),
            (.seconds(65_535), 65_535), (.seconds(100_000), 65_535),
        ] as [(Duration, UInt16)])
    func keepAliveIsSaidInWholeSecondsRoundedUp(keepAlive: Duration, seconds: UInt16) {
        var client = Conversation { $0.keepAlive = keepAlive }
        #expect(
            client.open() == [.sent(.connect(MQTTConnect(clientID: "t", cleanSession: false, keepAlive: seconds)))])
    }

    /// Section 3.8.4: "The Server is permitted to start sending PUBLISH packets before the SUBACK."
    @Test func deliversMessagesBeforeSuback() {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted(sessionPresent: true))
        #expect(client.broker(.publish("a", 7)) == [.message("a", 7, ticket: 1)])
        #expect(client.acknowledge(1) == [.sent(.puback(packetID: 7))])
        #expect(
            client.broker(.publish("b"), .granted(.atLeastOnce))
                == [.event(.connected(sessionPresent: true, grantedQoS: .atLeastOnce)), .message("b")])
    }

    @Test func aWholeConversationMayComeAtOnce() {
        var client = Conversation()
        _ = client.open()
        #expect(
            client.broker(.accepted(), .granted(.atLeastOnce), .publish("a", 1))
                == [
                    .event(.sessionMayBeNew), .event(.connected(sessionPresent: false, grantedQoS: .atLeastOnce)),
                    .message("a", 1, ticket: 1), .sent(.subscribe()),
                ])
    }

    @Test func aConversationMayComeByteByByte() {
        var client = Conversation()
        _ = client.open()
        let packets: [MQTTPacket] = [.accepted(), .granted(.atMostOnce), .publish("ab", 1), .pingresp, .publish("c")]
        #expect(
            packets.flatMap(\.bytes).flatMap { client.bytes([$0]) }
                == [
                    .event(.sessionMayBeNew), .sent(.subscribe()),
                    .event(.connected(sessionPresent: false, grantedQoS: .atMostOnce)),
                    .message("ab", 1, ticket: 1), .message("c"),
                ])
    }

    @Test(arguments: [.atMostOnce, .atLeastOnce, .exactlyOnce] as [QoS])
    func reportsWhatWasGranted(qos: QoS) {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted())
        #expect(
            client.broker(.granted(qos)) == [.event(.connected(sessionPresent: false, grantedQoS: qos))])
    }

    @Test(
        arguments: [
            (.atMostOnce, .atMostOnce), (.atLeastOnce, .atLeastOnce), (.exactlyOnce, .atLeastOnce),
        ] as [(QoS, QoS)])
    func neverAsksForQoS2(configured: QoS, asked: QoS) {
        var client = Conversation { $0.requestedQoS = configured }
        _ = client.open()
        #expect(client.broker(.accepted()) == [.event(.sessionMayBeNew), .sent(.subscribe(asked))])
    }

    // MARK: - Refusals

    @Test func aRefusedSubscriptionEndsTheConnection() {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted())
        #expect(
            client.broker(.granted(nil)) == [.event(.subscriptionRefused), .sent(.disconnect), .close(.afterFlush)])
        #expect(client.broker(.publish("a", 1)).isEmpty)
    }

    @Test(arguments: [2, 3, 4, 5, 6, 255] as [UInt8])
    func aRefusedConnectionIsOver(code: UInt8) {
        var client = Conversation()
        _ = client.open()
        let code = ConnackCode(rawValue: code)
        #expect(
            client.broker(.connack(MQTTConnack(code: code)))
                == [.event(.connectionRefused(code)), .close(.atOnce)])
        #expect(client.deadline == nil)
    }

    @Test func speaks31WhereTheBrokerRefuses311() {
        let refusal = MQTTPacket.connack(MQTTConnack(code: .unacceptableProtocolVersion))
        var client = Conversation()
        _ = client.open()
        #expect(
            client.broker(refusal)
                == [
                    .event(.connectionRefused(.unacceptableProtocolVersion)),
                    .event(.protocolVersionChanged(to: .v3_1)), .close(.atOnce),
                ])
        client.session.transportClosed()
        #expect(client.session.configuration.protocolVersion == .v3_1)
        #expect(client.open() == [.sent(.connect(.v3_1))])
        // The session tries 3.1.1 again after both versions were refused, since another broker may answer next time.
        #expect(
            client.broker(refusal)
                == [
                    .event(.connectionRefused(.unacceptableProtocolVersion)),
                    .event(.protocolVersionChanged(to: .v3_1_1)), .close(.atOnce),
                ])
        client.session.transportClosed()
        #expect(client.open() == [.sent(.connect(.v3_1_1))])
    }

    @Test func version31SaysNothingOfTheSession() {
        var client = Conversation {
            $0.protocolVersion = .v3_1
            $0.expectsSession = true
        }
        _ = client.open()
        // MQTT 3.1, section 3.2: the first byte is unused.
        #expect(client.bytes([0x20, 2, 0xFF, 0]) == [.event(.sessionMayBeNew), .sent(.subscribe())])
        #expect(
            client.broker(.granted(.atLeastOnce))
                == [.event(.connected(sessionPresent: nil, grantedQoS: .atLeastOnce))])
    }

    // MARK: - The broker's session

    @Test func aSessionThatIsGoneIsLost() {
        var client = Conversation.connected()
        client.session.transportClosed()
        _ = client.open()
        #expect(client.broker(.accepted()) == [.event(.sessionMayBeNew), .event(.sessionLost), .sent(.subscribe())])
        // Before SUBACK the new session has nothing to lose.
        client.session.transportClosed()
        _ = client.open()
        #expect(client.broker(.accepted()) == [.event(.sessionMayBeNew), .sent(.subscribe())])
    }

    @Test func aSessionThatIsThereIsNotLost() {
        var client = Conversation.connected()
        client.session.transportClosed()
        _ = client.open()
        #expect(client.broker(.accepted(sessionPresent: true)) == [.sent(.subscribe())])
    }

    @Test(arguments: [(false, []), (true, [.event(.sessionLost)])] as [(Bool, [Conversation.Said])])
    func anEarlierProcessMayHaveLeftASession(expected: Bool, said: [Conversation.Said]) {
        var client = Conversation { $0.expectsSession = expected }
        _ = client.open()
        #expect(client.broker(.accepted()) == [.event(.sessionMayBeNew)] + said + [.sent(.subscribe())])
    }

    @Test func aCleanSessionCannotBeLost() {
        var client = Conversation.connected { $0.cleanSession = true }
        client.session.transportClosed()
        #expect(client.open() == [.sent(.connect(cleanSession: true))])
        #expect(client.broker(.accepted()) == [.event(.sessionMayBeNew), .sent(.subscribe())])
    }

    @Test func aSessionMayBeNewAfterAConnectWithoutAnAnswer() {
        var client = Conversation.connected()
        for _ in 1...2 {
            client.session.transportClosed()
            _ = client.open()
        }
        #expect(
            client.broker(.accepted(sessionPresent: true)) == [.event(.sessionMayBeNew), .sent(.subscribe())])
        _ = client.broker(.granted(.atLeastOnce))
        // The next CONNECT has an answer, and a refused CONNECT creates no session.
        client.session.transportClosed()
        _ = client.open()
        _ = client.broker(.connack(MQTTConnack(sessionPresent: false, code: .serverUnavailable)))
        client.session.transportClosed()
        _ = client.open()
        #expect(client.broker(.accepted(sessionPresent: true)) == [.sent(.subscribe())])
    }

    // MARK: - Silence

    @Test func connackHasItsTime() {
        var client = Conversation()
        _ = client.open(at: 1000)
        #expect(client.deadline == 11_000)
        #expect(client.bytes([0x20], at: 10_000).isEmpty)
        #expect(client.timer(at: 10_999).isEmpty)
        #expect(client.timer(at: 11_000) == [.event(.timedOut(waitingFor: .connack)), .close(.atOnce)])
        #expect(client.timer(at: 12_000).isEmpty)
        #expect(client.deadline == nil)
    }

    @Test func subackHasItsTimeWhateverComesThatIsNoMessage() {
        var client = Conversation()
        _ = client.open()
        _ = client.broker(.accepted(), at: 1000)
        #expect(client.deadline == 11_000)
        _ = client.broker(.pubrel(packetID: 7), .pingresp, at: 9000)
        #expect(client.deadline == 11_000)
        #expect(client.timer(at: 11_000) == [.event(.timedOut(waitingFor: .suback)), .close(.atOnce)])
    }

    @Test func noAnswerIsLateWhileReadingIsPaused() {
        var client = Conversation { $0.keepAlive = .zero }
        client.session.readingPaused(true, now: .at(0))
        _ = client.open()
        #expect(client.deadline == nil)
        #expect(client.timer(at: 100_000).isEmpty)
        client.session.readingPaused(false, now: .at(100_000))
        #expect(client.deadline == 110_000)
        #expect(client.timer(at: 110_000) == [.event(.timedOut(waitingFor: .connack)), .close(.atOnce)])
    }

    // MARK: - The end

    @Test func disconnectsInEveryState() {
        var client = Conversation()
        #expect(client.disconnect().isEmpty)
        _ = client.open()
        #expect(client.disconnect() == [.sent(.disconnect), .close(.afterFlush)])
        #expect(client.disconnect().isEmpty)
        client.session.transportClosed()
        _ = client.open()
        _ = client.broker(.accepted())
        #expect(client.disconnect() == [.sent(.disconnect), .close(.afterFlush)])
        client.reconnect()
        #expect(client.disconnect() == [.sent(.disconnect), .close(.afterFlush)])
        #expect(client.deadline == nil)
        #expect(client.broker(.publish("a", 1)).isEmpty)
        #expect(client.timer(at: 1_000_000).isEmpty)
    }

    @Test func everyStateEndsWithTheConnection() {
        var client = Conversation()
        let ways: [[MQTTPacket]] = [
            [], [.accepted()], [.accepted(), .granted(.atLeastOnce)], [.accepted(), .granted(nil)],
        ]
        for (index, packets) in ways.enumerated() {
            #expect(client.open().count == 1)
            for packet in packets { _ = client.broker(packet) }
            client.session.transportClosed()
            #expect(client.session.generation == UInt64(index) + 1)
            #expect(!client.session.isConnected)
            #expect(client.deadline == nil)
            #expect(client.broker(.publish("a", 1)).isEmpty)
            #expect(client.timer(at: 1_000_000).isEmpty)
            #expect(client.disconnect().isEmpty)
        }
    }

    @Test func aSecondConnectionEndsTheFirst() {
        var client = Conversation.connected()
        _ = client.bytes([0x32, 100, 0])
        #expect(client.open() == [.sent(.connect())])
        #expect(client.session.generation == 2)
        #expect(client.broker(.accepted(sessionPresent: true)) == [.sent(.subscribe())])
    }
}
