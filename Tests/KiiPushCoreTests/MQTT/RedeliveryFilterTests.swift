import KiiPushCore
import Testing

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
        if keepsIdentifiers { self.filter.received(RedeliveryFilterTests.duplicate(9999)) }
        self.filter.connectionOpened(firstTicket: self.client.session.nextTicket)
    }

    mutating func reconnect(sessionPresent: Bool = true) {
        self.client.reconnect(sessionPresent: sessionPresent)
        self.filter.connectionOpened(firstTicket: self.client.session.nextTicket)
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
        self.filter.received(message)
        let unacknowledgedFrom = self.client.session.firstUnacknowledgedTicket
        if let sequence = self.filter.candidate(for: message, unacknowledgedFrom: unacknowledgedFrom),
            self.rows.contains(where: { $0.sequence == sequence && $0.payload == message.payload })
        {
            self.filter.absorbed(sequence: sequence, by: message)
            return .repeats(sequence)
        }
        let sequence = Int64(self.rows.count) + 1
        self.rows.append((sequence, message.payload))
        self.filter.stored(sequence: sequence, as: message, unacknowledgedFrom: unacknowledgedFrom)
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
        receiver.filter.sessionLost()
        receiver.turn(.publish("a", 1))
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
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

    /// [MQTT-2.3.1-4]: the broker uses 1 again, so it has read the acknowledgements of 9 and of 1.
    @Test func aPacketIdentifierThatIsUsedAgainProves() {
        var receiver = Receiver()
        receiver.turn(.publish("z", 9), .publish("a", 1), .publish("b", 2))
        receiver.turn(.publish("c", 1))
        receiver.reconnect()
        #expect(receiver.turn(.publish("z", 9, duplicate: true)) == [.stored(5)])
        #expect(receiver.turn(.publish("b", 2, duplicate: true)) == [.repeats(3)])
        #expect(receiver.turn(.publish("c", 1, duplicate: true)) == [.repeats(4)])
    }

    @Test func aPacketIdentifierThatIsUsedTooEarlyProvesNothing() {
        var receiver = Receiver()
        receiver.turn(acknowledging: false, .publish("z", 9), .publish("a", 1))
        #expect(receiver.turn(acknowledging: false, .publish("b", 1)) == [.stored(3)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("z", 9, duplicate: true)) == [.repeats(1)])
    }

    /// RabbitMQ passes the publisher's DUP through, so with DUP a reused identifier is no proof.
    @Test func aPacketIdentifierThatIsUsedAgainWithDUPProvesNothing() {
        var receiver = Receiver()
        receiver.turn(.publish("z", 9), .publish("a", 1))
        #expect(receiver.turn(.publish("b", 1, duplicate: true)) == [.stored(3)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("z", 9, duplicate: true)) == [.repeats(1)])
    }

    @Test func aNewSessionRepeatsNothing() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1))
        receiver.reconnect(sessionPresent: false)
        receiver.filter.sessionLost()
        #expect(receiver.filter.provenSequence == 1)
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(2)])
    }

    @Test func afterTheWindowNothingOfEarlierConnectionsIsRepeated() {
        var receiver = Receiver()
        receiver.turn(.publish("a", 1), .publish("b", 2))
        receiver.reconnect()
        receiver.turn(.publish("b", 2, duplicate: true))
        receiver.filter.redeliveryWindowPassed()
        #expect(receiver.filter.provenSequence == 1)
        #expect(receiver.turn(.publish("a", 1, duplicate: true)) == [.stored(3)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("b", 2, duplicate: true)) == [.repeats(2)])
    }

    @Test func qos0IsNeverARepetition() {
        var filter = RedeliveryFilter()
        let message = MQTTSession.InboundMessage(topic: "t", payload: [], duplicate: true)
        filter.stored(sequence: 1, as: message, unacknowledgedFrom: 1)
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
            filter.stored(sequence: Int64(number), as: message, unacknowledgedFrom: 1)
        }
        #expect(filter.count == 65_535)
    }

    // MARK: - After a restart

    static func duplicate(_ packetID: UInt16) -> MQTTSession.InboundMessage {
        MQTTSession.InboundMessage(
            topic: "t", payload: [], qos: .atLeastOnce, duplicate: true, packetID: packetID, ticket: 1)
    }

    @Test func knowsTheRowsOfAnEarlierProcess() {
        var filter = RedeliveryFilter(
            restoring: [
                RedeliveryFilter.RestoredRow(sequence: 11, packetID: 1, duplicate: false, connection: 1),
                RedeliveryFilter.RestoredRow(sequence: 12, packetID: 2, duplicate: false, connection: 2),
            ], provenSequence: 10)
        filter.connectionOpened(firstTicket: 1)
        filter.received(Self.duplicate(2))
        #expect(filter.candidate(for: Self.duplicate(1), unacknowledgedFrom: 1) == 11)
        #expect(filter.candidate(for: Self.duplicate(2), unacknowledgedFrom: 1) == 12)
        #expect(filter.candidate(for: Self.duplicate(3), unacknowledgedFrom: 1) == nil)
        #expect(filter.provenSequence == 10)
    }

    @Test func keepsTheWatermarkOfAnEarlierProcess() {
        #expect(RedeliveryFilter(restoring: [], provenSequence: 10).provenSequence == 10)
    }

    @Test func seesProofAmongTheRowsOfAnEarlierProcess() {
        func row(_ sequence: Int64, _ packetID: UInt16, _ connection: Int64, duplicate: Bool = false)
            -> RedeliveryFilter.RestoredRow
        {
            RedeliveryFilter.RestoredRow(
                sequence: sequence, packetID: packetID, duplicate: duplicate, connection: connection)
        }
        var filter = RedeliveryFilter(restoring: [
            row(1, 8, 1), row(2, 9, 2), row(3, 1, 2), row(4, 2, 2), row(5, 1, 2), row(6, 9, 3, duplicate: true),
            row(7, 3, 2), row(8, 9, 3), row(9, 10, 3), row(10, 9, 3, duplicate: true),
        ])
        filter.connectionOpened(firstTicket: 1)
        filter.received(Self.duplicate(11))
        let candidates = (UInt16(1)...10).map { filter.candidate(for: Self.duplicate($0), unacknowledgedFrom: 1) }
        // On connection 2, row 5 uses the identifier of row 3 again: 2 and 3 are done. On connection 3, row 8 does so
        // to row 6; row 10 has DUP and proves nothing of 8, but stands in its place.
        #expect(candidates == [5, 4, 7, nil, nil, nil, nil, 1, 10, 9])
    }

    @Test func aMessageOfAnEarlierProcessIsAbsorbedOnce() {
        var receiver = Receiver()
        receiver.rows = [(1, Array("a".utf8))]
        receiver.filter = RedeliveryFilter(
            restoring: [RedeliveryFilter.RestoredRow(sequence: 1, packetID: 7, duplicate: false, connection: 1)])
        receiver.reconnect()
        #expect(receiver.turn(.publish("a", 7, duplicate: true)) == [.repeats(1)])
        #expect(receiver.turn(.publish("a", 7, duplicate: true)) == [.stored(2)])
    }
}
