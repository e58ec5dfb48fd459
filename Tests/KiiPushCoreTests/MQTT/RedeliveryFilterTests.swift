import Testing

@testable import KiiPushCore

/// A session, its filter and the stored rows, combined as in an agent.
struct Receiver {
    var client = Conversation.connected()
    var filter = RedeliveryFilter()
    var rows: [(sequence: Int64, payload: [UInt8])] = []

    enum Fate: Equatable {
        case stored(Int64)
        case repeats(Int64)
    }

    /// - Parameter keepsIdentifiers: Whether an earlier connection has shown that the broker keeps packet IDs.
    init(keepsIdentifiers: Bool = true) {
        if keepsIdentifiers { self.filter.received(RedeliveryFilterTests.duplicate(9999), beganWithPubrel: false) }
        self.filter.connectionOpened(firstTicket: self.client.session.nextTicket)
    }

    mutating func reconnect(sessionPresent: Bool = true, isGranted: Bool = true) {
        self.client.session.transportClosed()
        self.filter.connectionOpened(firstTicket: self.client.session.nextTicket)
        _ = self.client.open()
        for said in self.client.broker(.accepted(sessionPresent: sessionPresent)) {
            if case .event(.sessionMayBeNew) = said { self.filter.sessionMayBeNew() }
        }
        if isGranted { _ = self.client.broker(.granted(.atLeastOnce)) }
    }

    /// Receives packets in one turn, and acknowledges their messages at its end unless `acknowledging` is false.
    @discardableResult
    mutating func turn(acknowledging: Bool = true, _ packets: MQTTPacket...) -> [Fate] {
        var fates: [Fate] = []
        for said in self.client.bytes(packets.flatMap(\.bytes)) {
            switch said {
            case .message(let message): fates.append(self.take(message))
            case .event(.acknowledgementsProven(let ticket)): self.filter.proven(through: ticket)
            case .event, .sent, .close: break
            }
        }
        if acknowledging { _ = self.client.acknowledge(through: self.client.session.nextTicket - 1) }
        return fates
    }

    private mutating func take(_ message: MQTTSession.InboundMessage) -> Fate {
        self.filter.received(message, beganWithPubrel: self.client.session.beganWithPubrel)
        let unacknowledgedFrom = self.client.session.firstUnacknowledgedTicket
        if let sequence = self.filter.candidate(for: message, unacknowledgedFrom: unacknowledgedFrom),
            self.rows.contains(where: { $0.sequence == sequence && $0.payload == message.payload })
        {
            self.filter.absorbed(sequence: sequence, by: message)
            return .repeats(sequence)
        }
        let sequence = Int64(self.rows.count) + 1
        self.rows.append((sequence, message.payload))
        self.filter.stored(sequence: sequence, as: message)
        return .stored(sequence)
    }

    mutating func prove() {
        _ = self.client.timer(at: 60_000)
        self.turn(.pingresp)
    }
}

@Suite struct RedeliveryFilterTests {
    @Test func aMessageThatIsSentAgainAfterACutIsKnown() {
        var receiver = Receiver()
        #expect(receiver.turn(.publish("a", 1), .publish("b", 2)) == [.stored(1), .stored(2)])
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("a", 1, duplicate: true), .publish("b", 2, duplicate: true), .publish("c", 3))
                == [.repeats(1), .repeats(2), .stored(3)])
    }

    @Test func withoutDUPItIsNew() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 1)) == [.stored(2)])
    }

    @Test func underAnotherPacketIdentifierItIsNew() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 2, duplicate: true)) == [.stored(2)])
    }

    @Test func withOtherBytesItIsNew() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        #expect(receiver.turn(.publish("b", 1, duplicate: true)) == [.stored(2)])
        // From now on the packet ID belongs to the new message.
        receiver.reconnect()
        #expect(receiver.turn(.publish("b", 1, duplicate: true)) == [.repeats(2)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(3)])
    }

    @Test func whatIsProvenIsNotRepeated() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1), .publish("b", 2))
        receiver.prove()
        receiver.turn(.publish("c", 3))
        #expect(receiver.filter.count == 1)
        #expect(receiver.filter.provenSequence == 2)
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("a", 1, duplicate: true), .publish("c", 3, duplicate: true))
                == [.stored(4), .repeats(3)])
    }

    @Test func proofOfOneConnectionSaysNothingOfAnEarlierOne() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        receiver.turn(.publish("b", 2))
        receiver.prove()
        #expect(receiver.filter.provenSequence == 0)
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.repeats(1)])
    }

    /// A publisher's retry reaches the subscriber as a second message without DUP.
    @Test func aPublishersRetryIsASecondMessage() {
        var receiver = Receiver()
        #expect(receiver.turn(.publish("a", 1), .publish("a", 2)) == [.stored(1), .stored(2)])
    }

    @Test func equalMessagesStayApart() {
        var receiver = Receiver()
        for packetID in UInt16(1)...40 { receiver.turn(.publish("same", packetID)) }
        #expect(receiver.rows.count == 40)
        receiver.reconnect()
        for packetID in UInt16(21)...40 {
            #expect(receiver.turn(.publish("same", packetID, duplicate: true)) == [.repeats(Int64(packetID))])
        }
        #expect(receiver.turn(.publish("same", 41)) == [.stored(41)])
        // A row that was acknowledged on this connection takes no redelivery on it.
        #expect(receiver.turn(.publish("same", 40, duplicate: true)) == [.stored(42)])
    }

    @Test func aRowTakesOneRedeliveryAConnection() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        for _ in 0..<3 {
            receiver.reconnect()
            #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.repeats(1)])
        }
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
    }

    /// RabbitMQ numbers from 1 on each connection. Of the messages m1 to m6, it got the acknowledgements of m1, m2 and
    /// m4. It redelivers m3, m5 and m6 as 1, 2 and 3, and sends the new m7 as 4.
    @Test func renumberingRepeatsAndDoesNotLose() {
        var receiver = Receiver()
        for packetID in UInt16(1)...4 { receiver.turn(.publish("m\(packetID)", packetID)) }
        receiver.reconnect()
        #expect(receiver.turn(.publish("m3", 1, duplicate: true)) == [.stored(5)])
        #expect(receiver.turn(.publish("m5", 2, duplicate: true)) == [.stored(6)])
        #expect(receiver.turn(.publish("m6", 3, duplicate: true)) == [.stored(7)])
        #expect(receiver.turn(.publish("m7", 4)) == [.stored(8)])
        #expect(Set(receiver.rows.map(\.payload)).count == 7)
    }

    /// The broker read the acknowledgements of the first five of ten equal messages. It had sent five more, which the
    /// agent never read. Now it redelivers these ten messages with DUP, as 1 to 10.
    @Test func equalMessagesOfABrokerThatNumbersAnewAreNotLost() {
        var receiver = Receiver(keepsIdentifiers: false)
        for packetID in UInt16(1)...10 { receiver.turn(.publish("same", packetID)) }
        receiver.reconnect()
        for packetID in UInt16(1)...10 { receiver.turn(.publish("same", packetID, duplicate: true)) }
        // Five messages are handled twice. No receiver could tell which five.
        #expect(receiver.rows.count == 20)
    }

    @Test func aConnectionThatBeginsWithAnotherIdentifierShowsThatTheyAreKept() {
        var receiver = Receiver(keepsIdentifiers: false)
        receiver.turn(.publish("a", 1), .publish("b", 2))
        receiver.reconnect()
        #expect(receiver.turn(.publish("b", 2, duplicate: true)) == [.repeats(2)])
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("a", 1, duplicate: true), .publish("b", 2, duplicate: true))
                == [.repeats(1), .repeats(2)])
    }

    @Test func aConnectionThatBeginsWithOneShowsNothing() {
        var receiver = Receiver(keepsIdentifiers: false)
        receiver.turn(.publish("a", 1), .publish("b", 2))
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("a", 1, duplicate: true), .publish("b", 2, duplicate: true))
                == [.stored(3), .stored(4)])
        #expect(receiver.turn(acknowledging: false, .publish("c", 3)) == [.stored(5)])
        #expect(receiver.turn(acknowledging: false, .publish("c", 3, duplicate: true)) == [.repeats(5)])
    }

    @Test func aNewSessionMayHaveAnotherBroker() {
        var receiver = Receiver()
        receiver.reconnect(sessionPresent: false)
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
    }

    /// The broker lost its sessions. CONNACK reports the new session, and the link breaks before SUBACK. Meanwhile the
    /// broker numbers new messages from 1.
    @Test func aNewSessionIsKnownBeforeItsSubscriptionStands() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 2), .publish("same", 3))
        receiver.reconnect(sessionPresent: false, isGranted: false)
        receiver.reconnect()
        #expect(
            receiver.turn(
                .publish("x", 2, duplicate: true), .publish("same", 3, duplicate: true)) == [.stored(3), .stored(4)])
    }

    /// MQTT lets a broker use the lowest free packet ID. The broker sent a third message "same", which the agent never
    /// read.
    @Test func equalMessagesOfABrokerThatUsesIdentifiersAgainAreNotLost() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.turn(.publish("same", 1), .publish("b", 2))
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("b", 2, duplicate: true), .publish("same", 1, duplicate: true))
                == [.stored(4), .stored(5)])
    }

    /// A broker that reuses packet IDs, before a new message has shown the reuse.
    @Test func anIdentifierThatWasUsedAgainShowsItselfAmongTheRepeatedOnes() {
        var receiver = Receiver()
        receiver.turn(.publish("same", 1), .publish("b", 2), .publish("c", 3))
        receiver.reconnect()
        #expect(
            receiver.turn(
                .publish("b", 2, duplicate: true), .publish("c", 3, duplicate: true),
                .publish("same", 1, duplicate: true)) == [.repeats(2), .repeats(3), .stored(4)])
    }

    /// mosquitto was killed, and restored its sessions from a copy that lacks message 101.
    @Test func equalMessagesOfABrokerThatWentBackAreNotLost() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 100), .publish("same", 101), .publish("c", 102))
        receiver.reconnect()
        receiver.turn(.publish("d", 100))
        receiver.reconnect()
        #expect(receiver.turn(.publish("same", 101, duplicate: true)) == [.stored(5)])
    }

    /// A broker that numbers anew used ID 1 for a message of QoS 2 that only needed PUBREL, and ID 2 for a new message.
    @Test func aConnectionThatBeginsWithAReleaseShowsNoIdentifiers() {
        var receiver = Receiver(keepsIdentifiers: false)
        receiver.turn(.publish("a", 1), .publish("a", 2))
        receiver.reconnect()
        #expect(receiver.turn(.pubrel(packetID: 1), .publish("a", 2, duplicate: true)) == [.stored(3)])
    }

    @Test func identifiersThatBeginAgainAfterTheLastOneAreKept() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 65_534), .publish("b", 65_535), .publish("c", 1), .publish("d", 2))
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("b", 65_535, duplicate: true), .publish("c", 1, duplicate: true))
                == [.repeats(2), .repeats(3)])
    }

    /// The packet IDs may have wrapped around since then.
    @Test func aRowOfLongAgoIsNotRepeated() {
        var filter = RedeliveryFilter(restoring: [(1, 7), (32_767, 8), (32_768, 9)])
        filter.connectionOpened(firstTicket: 1)
        filter.received(Self.duplicate(7), beganWithPubrel: false)
        #expect(filter.candidate(for: Self.duplicate(7), unacknowledgedFrom: 1) == nil)
        #expect(filter.candidate(for: Self.duplicate(8), unacknowledgedFrom: 1) == 32_767)
    }

    /// mosquitto sets DUP on messages that it wrote into a broken connection.
    @Test func aFirstDeliveryWithDUPIsNotLost() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        for packetID in UInt16(2)...20 {
            #expect(receiver.turn(.publish("a", packetID, duplicate: true)) == [.stored(Int64(packetID))])
        }
    }

    /// NATS sends a message again after 30 s, on the same connection and with the same packet ID.
    @Test func aRedeliveryDuringTheHandlerIsKnown() {
        var receiver = Receiver()
        #expect(receiver.turn(acknowledging: false, .publish("a", 1)) == [.stored(1)])
        #expect(receiver.turn(acknowledging: false, .publish("a", 1, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(acknowledging: true, .publish("a", 1, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
    }

    /// With the inbox in memory, acknowledgements wait for the handlers, also across connections.
    @Test func aRedeliveryAfterACutDuringTheHandlerIsKnown() {
        var receiver = Receiver()
        receiver.turn(acknowledging: false, .publish("a", 1))
        receiver.reconnect()
        #expect(receiver.turn(acknowledging: false, .publish("a", 1, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(acknowledging: false, .publish("a", 1, duplicate: true)) == [.repeats(1)])
    }

    @Test func aNewSessionRepeatsNothing() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect(sessionPresent: false)
        #expect(receiver.filter.provenSequence == 1)
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
    }

    @Test func afterTheWindowNothingOfEarlierConnectionsIsRepeated() {
        var receiver = Receiver()
        receiver.turn(.publish("z", 1), .publish("b", 2), .publish("a", 3))
        receiver.reconnect()
        receiver.turn(.publish("b", 2, duplicate: true))
        receiver.filter.redeliveryWindowPassed()
        #expect(receiver.filter.provenSequence == 1)
        #expect(receiver.turn(.publish("a", 3, duplicate: true)) == [.stored(4)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("b", 2, duplicate: true)) == [.repeats(2)])
    }

    @Test func qos0IsNeverARepetition() {
        var filter = RedeliveryFilter()
        let message = MQTTSession.InboundMessage(topic: "t", payload: [], duplicate: true)
        filter.stored(sequence: 1, as: message)
        filter.absorbed(sequence: 1, by: message)
        #expect(filter.count == 0)
        #expect(filter.candidate(for: message, unacknowledgedFrom: 1) == nil)
    }

    @Test func holdsNoMoreThanThereArePacketIdentifiers() {
        var filter = RedeliveryFilter()
        for number in 1...200_000 {
            let message = MQTTSession.InboundMessage(
                topic: "t", payload: [], qos: .atLeastOnce, packetID: UInt16(number % 65_535 + 1),
                ticket: UInt64(number))
            filter.stored(sequence: Int64(number), as: message)
        }
        #expect(filter.count == 65_535)
    }

    // MARK: - After a restart

    static func duplicate(_ packetID: UInt16) -> MQTTSession.InboundMessage {
        MQTTSession.InboundMessage(
            topic: "t", payload: [], qos: .atLeastOnce, duplicate: true, packetID: packetID, ticket: 1)
    }

    @Test func knowsTheRowsOfAnEarlierProcess() {
        var filter = RedeliveryFilter(restoring: [(11, 1), (12, 2), (13, 1)])
        filter.connectionOpened(firstTicket: 1)
        filter.received(Self.duplicate(2), beganWithPubrel: false)
        #expect(filter.candidate(for: Self.duplicate(1), unacknowledgedFrom: 1) == 13)
        #expect(filter.candidate(for: Self.duplicate(2), unacknowledgedFrom: 1) == 12)
        #expect(filter.candidate(for: Self.duplicate(3), unacknowledgedFrom: 1) == nil)
        #expect(filter.provenSequence == 11)
    }

    @Test func aMessageOfAnEarlierProcessIsAbsorbedOnce() {
        var receiver = Receiver()
        receiver.rows = [(1, Array("a".utf8))]
        receiver.filter = RedeliveryFilter(
            restoring: [(1, 7)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 7, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(.publish("a", 7, duplicate: true)) == [.stored(2)])
    }
}
