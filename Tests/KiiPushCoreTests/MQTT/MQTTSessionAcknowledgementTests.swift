import Testing

@testable import KiiPushCore

@Suite struct MQTTSessionAcknowledgementTests {
    @Test func nothingIsAcknowledgedByItself() {
        var client = Conversation.connected()
        #expect(client.broker(.publish("a", 1)) == [.message("a", 1, ticket: 1)])
        #expect(client.session.unacknowledgedCount == 1)
        #expect(client.acknowledge(1) == [.sent(.puback(packetID: 1))])
        #expect(client.session.unacknowledgedCount == 0)
    }

    @Test func qos0HasNoTicket() {
        var client = Conversation.connected()
        #expect(
            client.broker(.publish("a"), .publish("b", 1), .publish("c"))
                == [.message("a"), .message("b", 1, ticket: 1), .message("c")])
    }

    /// [MQTT-4.6.0-2]
    @Test func leavesInOrderOfReception() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 30), .publish("b", 20), .publish("c", 10), .publish("d", 5))
        #expect(client.acknowledge(2).isEmpty)
        #expect(client.acknowledge(3).isEmpty)
        #expect(client.session.firstUnacknowledgedTicket == 1)
        #expect(
            client.acknowledge(1)
                == [.sent(.puback(packetID: 30)), .sent(.puback(packetID: 20)), .sent(.puback(packetID: 10))])
        #expect(client.session.firstUnacknowledgedTicket == 4)
        #expect(client.acknowledge(4) == [.sent(.puback(packetID: 5))])
    }

    @Test func opensAllGatesUpToATicket() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1), .publish("b", 2), .publish("c", 3))
        #expect(client.acknowledge(through: 2) == [.sent(.puback(packetID: 1)), .sent(.puback(packetID: 2))])
        #expect(client.acknowledge(through: 2).isEmpty)
        #expect(client.acknowledge(through: 3) == [.sent(.puback(packetID: 3))])
    }

    @Test(arguments: [0, 3, 4, UInt64.max])
    func aTicketThatWasNeverGivenOutOpensNothing(ticket: UInt64) {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1), .publish("b", 2))
        #expect(client.acknowledge(ticket).isEmpty)
        #expect(client.acknowledge(through: ticket).isEmpty)
        #expect(client.session.unacknowledgedCount == 2)
    }

    @Test func aTicketOpensOnce() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1))
        #expect(client.acknowledge(1).count == 1)
        #expect(client.acknowledge(1).isEmpty)
        #expect(client.acknowledge(through: 1).isEmpty)
    }

    @Test func aTicketOfAnEarlierConnectionOpensNothing() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1), .publish("b", 2))
        _ = client.acknowledge(2)
        client.session.transportClosed()
        #expect(client.acknowledge(1).isEmpty)
        client.reconnect(sessionPresent: true)
        #expect(
            client.broker(.publish("a", 1, duplicate: true), .publish("b", 2, duplicate: true))
                == [.message("a", 1, ticket: 3, duplicate: true), .message("b", 2, ticket: 4, duplicate: true)])
        #expect(client.acknowledge(1).isEmpty)
        #expect(client.acknowledge(through: 2).isEmpty)
        #expect(client.acknowledge(3) == [.sent(.puback(packetID: 1))])
        // Ticket 2 was acknowledged on the first connection. Its message still waits on this connection.
        #expect(client.session.unacknowledgedCount == 1)
    }

    @Test func nothingIsAcknowledgedBeforeConnackOrAfterTheEnd() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1))
        _ = client.disconnect()
        #expect(client.acknowledge(1).isEmpty)
        _ = client.open()
        #expect(client.acknowledge(through: client.session.nextTicket - 1).isEmpty)
    }

    /// A client that sent old acknowledgements on its next connection got 979 messages twice.
    @Test func manyStaleAcknowledgementsAreIgnored() {
        var client = Conversation.connected()
        for packetID in UInt16(1)...979 { _ = client.broker(.publish("\(packetID)", packetID)) }
        client.reconnect(sessionPresent: true)
        for packetID in UInt16(1)...979 { _ = client.broker(.publish("\(packetID)", packetID, duplicate: true)) }
        for ticket in UInt64(1)...979 { #expect(client.acknowledge(ticket).isEmpty) }
        #expect(client.session.unacknowledgedCount == 979)
        let expected = (UInt16(1)...979).map { Conversation.Said.sent(.puback(packetID: $0)) }
        #expect(client.acknowledge(through: 2 * 979) == expected)
    }

    /// mosquitto 2.0.11 sends 1,691 unacknowledged messages into a window of 20.
    @Test func aBrokerMayExceedItsWindow() {
        var client = Conversation.connected()
        for packetID in UInt16(1)...1691 {
            #expect(client.broker(.publish("a", packetID)) == [.message("a", packetID, ticket: UInt64(packetID))])
        }
        #expect(client.session.unacknowledgedCount == 1691)
    }

    @Test func everyPacketIdentifierMayBeOpenAtOnce() {
        var client = Conversation.connected()
        var expected: [Conversation.Said] = []
        for packetID in UInt16(1)...65_535 {
            _ = client.broker(.publish("", packetID))
            expected.append(.sent(.puback(packetID: packetID)))
        }
        #expect(client.acknowledge(through: 65_535) == expected + [.sent(.pingreq)])
    }

    /// A publisher that lost a PUBACK sends its message again. The subscriber then gets two messages without DUP.
    @Test func equalMessagesAreEachAcknowledged() {
        var client = Conversation.connected()
        for packetID in UInt16(1)...40 {
            #expect(client.broker(.publish("same", packetID)) == [.message("same", packetID, ticket: UInt64(packetID))])
        }
        let expected = (UInt16(1)...40).map { Conversation.Said.sent(.puback(packetID: $0)) }
        #expect(client.acknowledge(through: 40) == expected)
    }

    /// NATS sends a message again after 30 s, on the same connection, while the handler is still running.
    @Test func aRedeliveryOnTheSameConnectionIsAcknowledgedToo() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1))
        #expect(client.broker(.publish("a", 1, duplicate: true)) == [.message("a", 1, ticket: 2, duplicate: true)])
        #expect(client.acknowledge(1) == [.sent(.puback(packetID: 1))])
        #expect(client.acknowledge(2) == [.sent(.puback(packetID: 1))])
    }

    @Test func gatesThatOpenInAnyOrderKeepTheQueueSmall() {
        var client = Conversation.connected()
        var sent = 0
        for packetID in UInt16(1)...5000 {
            _ = client.broker(.publish("a", packetID))
            guard packetID % 2 == 0 else { continue }
            sent += client.acknowledge(UInt64(packetID)).count
            sent += client.acknowledge(UInt64(packetID) - 1).filter { $0 != .sent(.pingreq) }.count
        }
        #expect(sent == 5000)
        #expect(client.session.unacknowledgedCount == 0)
    }

    // MARK: - QoS 2

    @Test func qos2IsReceivedAtLeastOnce() {
        var client = Conversation.connected()
        let publish = MQTTPublish(topic: "t", payload: [1], qos: .exactlyOnce, packetID: 5)
        let message = MQTTSession.InboundMessage(
            topic: "t", payload: [1], qos: .exactlyOnce, packetID: 5, ticket: 1)
        #expect(client.broker(.publish(publish), .publish("b", 6)) == [.message(message), .message("b", 6, ticket: 2)])
        #expect(client.acknowledge(2).isEmpty)
        #expect(client.acknowledge(1) == [.sent(.pubrec(packetID: 5)), .sent(.puback(packetID: 6))])
        #expect(client.broker(.pubrel(packetID: 5)) == [.sent(.pubcomp(packetID: 5))])
    }

    /// [MQTT-4.3.3-2] also holds after a reconnect of the same session. A new session has no unreleased messages.
    @Test func whatWasNotReleasedIsMarkedWhenItComesAgain() {
        var client = Conversation.connected()
        func publish(at time: Int = 0) -> Bool? {
            let packet = MQTTPublish(topic: "t", payload: [1], qos: .exactlyOnce, packetID: 5)
            for said in client.broker(.publish(packet), at: time) {
                if case .message(let message) = said { return message.isUnreleased }
            }
            return nil
        }
        #expect(publish() == false)
        #expect(publish() == true)
        client.reconnect(sessionPresent: true)
        #expect(publish() == true)
        _ = client.broker(.pubrel(packetID: 5))
        #expect(publish() == false)
        client.reconnect(sessionPresent: false)
        #expect(publish() == false)
    }

    /// Section 4.4: after a reconnect the broker continues with PUBREL for a message of an earlier connection.
    @Test func aReleaseOfAnUnknownMessageIsAnswered() {
        var client = Conversation.connected()
        #expect(client.broker(.pubrel(packetID: 77)) == [.sent(.pubcomp(packetID: 77))])
    }

    // MARK: - Proof of arrival

    @Test func anAnsweredPingProvesWhatWasSentBeforeIt() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1), .publish("b", 2), .publish("c", 3))
        _ = client.acknowledge(through: 2)
        _ = client.timer(at: 60_000)
        _ = client.acknowledge(3)
        #expect(client.broker(.pingresp, at: 60_000) == [.event(.acknowledgementsProven(through: 2))])
        #expect(client.broker(.pingresp, at: 60_000).isEmpty)
        _ = client.timer(at: 120_000)
        #expect(client.broker(.pingresp, at: 120_000) == [.event(.acknowledgementsProven(through: 3))])
        _ = client.timer(at: 180_000)
        #expect(client.broker(.pingresp, at: 180_000).isEmpty)
    }

    @Test func manyUnprovenAcknowledgementsAskForProof() {
        var client = Conversation.connected()
        for packetID in UInt16(1)...2500 {
            _ = client.broker(.publish("a", packetID))
            let ping: [Conversation.Said] = packetID % 1000 == 0 ? [.sent(.pingreq)] : []
            #expect(client.acknowledge(UInt64(packetID)) == [.sent(.puback(packetID: packetID))] + ping)
        }
        #expect(client.broker(.pingresp) == [.event(.acknowledgementsProven(through: 1000))])
        #expect(client.broker(.pingresp) == [.event(.acknowledgementsProven(through: 2000))])
        #expect(client.broker(.pingresp).isEmpty)
        // A ping for proof does not replace the keep-alive's ping.
        #expect(client.deadline == 60_000)
    }

    @Test func anUnansweredQuestionIsNotRepeatedForEver() {
        var client = Conversation.connected { $0.maximumUnprovenAcknowledgements = 1 }
        var pings = 0
        for packetID in UInt16(1)...100 {
            _ = client.broker(.publish("a", packetID))
            pings += client.acknowledge(UInt64(packetID)).filter { $0 == .sent(.pingreq) }.count
        }
        #expect(pings == 8)
        // Further pings come from the keep-alive. Their answers prove nothing beyond the eighth ticket.
        client.session.readingPaused(true, now: .at(0))
        for minute in 1...3 { #expect(client.timer(at: minute * 60_000) == [.sent(.pingreq)]) }
        client.session.readingPaused(false, now: .at(200_000))
        for ticket in UInt64(1)...8 {
            #expect(client.broker(.pingresp) == [.event(.acknowledgementsProven(through: ticket))])
        }
        for _ in 0..<3 { #expect(client.broker(.pingresp).isEmpty) }
    }

    @Test func proofIsOfOneConnection() {
        var client = Conversation.connected()
        _ = client.broker(.publish("a", 1))
        _ = client.acknowledge(1)
        _ = client.timer(at: 60_000)
        client.reconnect(sessionPresent: true, at: 61_000)
        #expect(client.broker(.pingresp, at: 61_000).isEmpty)
        _ = client.timer(at: 121_000)
        #expect(client.broker(.pingresp, at: 121_000).isEmpty)
    }
}
