import Testing

@testable import KiiPushCore

/// A session, its filter and the rows that were stored, as an agent puts them together.
struct Receiver {
    var client = Conversation.connected()
    var filter = RedeliveryFilter()
    var rows: [(sequence: Int64, payload: [UInt8])] = []

    /// What became of a PUBLISH.
    enum Fate: Equatable {
        case stored(Int64)
        case repeats(Int64)
    }

    /// - Parameter keepsIdentifiers: whether an earlier connection has shown that the broker keeps packet identifiers.
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

    /// Takes packets in one turn, and acknowledges them at its end unless the handlers are to decide.
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
        // And stands for the packet identifier from now on.
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
        // Acknowledged on this connection, a row takes no second one.
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

    /// RabbitMQ numbers from 1 on each connection: of 1 to 6, 1, 2 and 4 were acknowledged, and 3, 5 and 6 come as
    /// 1, 2 and 3; 7 is new and comes as 4.
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

    /// Of ten equal messages that were acknowledged the broker has read the first five. It has written five more, which
    /// were not read, and calls all ten of them duplicates, from 1 on.
    @Test func equalMessagesOfABrokerThatNumbersAnewAreNotLost() {
        var receiver = Receiver(keepsIdentifiers: false)
        for packetID in UInt16(1)...10 { receiver.turn(.publish("same", packetID)) }
        receiver.reconnect()
        for packetID in UInt16(1)...10 { receiver.turn(.publish("same", packetID, duplicate: true)) }
        // Five were handled twice; which, nobody can tell.
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
        // Sent again on this connection it is known all the same.
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

    /// The broker has lost its sessions; the new one is there with CONNACK, and the link dies before SUBACK comes. What
    /// the broker writes meanwhile counts from 1 again.
    @Test func aNewSessionIsKnownBeforeItsSubscriptionStands() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 2), .publish("same", 3))
        receiver.reconnect(sessionPresent: false, isGranted: false)
        receiver.reconnect()
        #expect(
            receiver.turn(
                .publish("x", 2, duplicate: true), .publish("same", 3, duplicate: true)) == [.stored(3), .stored(4)])
    }

    /// MQTT lets a broker take the lowest identifier that is free. The third "same" was written and never read.
    @Test func equalMessagesOfABrokerThatUsesIdentifiersAgainAreNotLost() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.turn(.publish("same", 1), .publish("b", 2))
        receiver.reconnect()
        #expect(
            receiver.turn(.publish("b", 2, duplicate: true), .publish("same", 1, duplicate: true))
                == [.stored(4), .stored(5)])
    }

    /// The same before the broker has shown it with a new message.
    @Test func anIdentifierThatWasUsedAgainShowsItselfAmongTheRepeatedOnes() {
        var receiver = Receiver()
        receiver.turn(.publish("same", 1), .publish("b", 2), .publish("c", 3))
        receiver.reconnect()
        #expect(
            receiver.turn(
                .publish("b", 2, duplicate: true), .publish("c", 3, duplicate: true),
                .publish("same", 1, duplicate: true)) == [.repeats(2), .repeats(3), .stored(4)])
    }

    /// mosquitto was killed, and has its sessions from a copy in which 101 was not given away yet.
    @Test func equalMessagesOfABrokerThatWentBackAreNotLost() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 100), .publish("same", 101), .publish("c", 102))
        receiver.reconnect()
        receiver.turn(.publish("d", 100))
        receiver.reconnect()
        #expect(receiver.turn(.publish("same", 101, duplicate: true)) == [.stored(5)])
    }

    /// A broker that numbers anew gave 1 to a message of QoS 2 that it only had to release, and 2 to one that nobody has.
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

    /// Identifiers have gone round since.
    @Test func aRowOfLongAgoIsNotRepeated() {
        var filter = RedeliveryFilter(restoring: [(1, 7), (32_767, 8), (32_768, 9)])
        filter.connectionOpened(firstTicket: 1)
        filter.received(Self.duplicate(7), beganWithPubrel: false)
        #expect(filter.candidate(for: Self.duplicate(7), unacknowledgedFrom: 1) == nil)
        #expect(filter.candidate(for: Self.duplicate(8), unacknowledgedFrom: 1) == 32_767)
    }

    /// mosquitto sets DUP on what it wrote into a connection that was already gone.
    @Test func aFirstDeliveryWithDUPIsNotLost() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        for packetID in UInt16(2)...20 {
            #expect(receiver.turn(.publish("a", packetID, duplicate: true)) == [.stored(Int64(packetID))])
        }
    }

    /// NATS sends again after 30 s, on the same connection and with the same packet identifier.
    @Test func aRedeliveryDuringTheHandlerIsKnown() {
        var receiver = Receiver()
        #expect(receiver.turn(acknowledging: false, .publish("a", 1)) == [.stored(1)])
        #expect(receiver.turn(acknowledging: false, .publish("a", 1, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(acknowledging: true, .publish("a", 1, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
    }

    /// In memory the gates wait for the handlers, across a cut too.
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
