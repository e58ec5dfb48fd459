import Faults
import Foundation
import TestSupport
import Testing

@Suite struct TallyTests {
    private func tally(_ lines: String, sent: [Int: Int], _ traffic: Traffic = .init()) async throws -> Tally {
        try await withTemporaryDirectory { directory in
            let path = directory + "/handled.log"
            try lines.write(toFile: path, atomically: true, encoding: .utf8)
            var log = HandledLog(path: path)
            log.read()
            return Tally(sent: sent, log: log, traffic: traffic)
        }
    }

    @Test func whatIsNeitherHandledNorDeadIsLost() async throws {
        var tally = try await self.tally(
            "began 1 11\nended 1 11\nbegan 2 12\nbegan 3 13\nended 3 13", sent: [1: 1, 2: 1, 3: 1, 4: 1])
        // Message 2 was only begun, and the line of message 3 is incomplete.
        #expect(tally.missing == [2: 1, 3: 1, 4: 1])
        #expect(tally.lost == 3)
        #expect(tally.lostByBroker == 0)
        tally.dead = DeadLetters([.init(number: 4, reason: "crashed")])
        #expect(tally.lost == 2)
    }

    @Test func aKilledBrokerLosesWhatNobodyAcknowledged() async throws {
        var traffic = Traffic()
        let connection = traffic.connected()
        traffic.delivered(1, packetID: 7, isMarkedDuplicate: false, connection: connection)
        traffic.delivered(2, packetID: 8, isMarkedDuplicate: false, connection: connection)
        traffic.acknowledged(packetID: 7, connection: connection)
        var tally = try await self.tally("", sent: [1: 1, 2: 1, 3: 1], traffic)
        #expect(tally.lost == 3)
        tally.brokerWasKilled = true
        // The receiver acknowledged message 1 and is responsible for it.
        #expect(tally.lost == 1)
        #expect(tally.lostByBroker == 2)
    }

    /// Three messages with equal bytes: the first is redelivered and handled twice, the second is never handled.
    @Test func aDuplicateHidesNoLossAmongEqualMessages() async throws {
        var tally = try await self.tally("ended 1 5\nended 1 5\nended 1 6\nended 1 7\n", sent: [1: 3])
        tally.serials = ["5": 1, "6": 1, "7": 3]
        #expect(tally.missing == [1: 1])
        #expect(tally.lost == 1)
        #expect(tally.duplicates == [.answerNotStored: 1, .redelivered: 1])
        tally.serials["6"] = 2
        #expect(tally.lost == 0)
        #expect(tally.duplicates == [.answerNotStored: 1])
        // Without a serial, the message is indistinguishable from the others.
        tally.serials["7"] = nil
        #expect(tally.lost == 1)
    }

    @Test func aDeadLetterStandsForOneOfTheEqualMessages() async throws {
        var tally = try await self.tally("ended 1 5\n", sent: [1: 3])
        tally.serials = ["5": 1]
        tally.dead = DeadLetters([.init(number: 1, reason: "crashed")])
        #expect(tally.lost == 1)
    }

    @Test func everyHandlingTooManyIsCounted() async throws {
        let tally = try await self.tally(String(repeating: "ended 1 5\n", count: 4), sent: [1: 1])
        #expect(tally.duplicates == [.answerNotStored: 3])
    }

    /// A message that was handled twice under these IDs. Its first delivery had packet identifier 7.
    struct Duplicate: Sendable {
        var ids: [Int]
        /// The second delivery, if any.
        var second: (packetID: UInt16, isMarked: Bool)?
        var cause: DuplicateCause
    }

    @Test(arguments: [
        Duplicate(ids: [5, 5], second: nil, cause: .answerNotStored),
        Duplicate(ids: [5, 6], second: (7, true), cause: .redelivered),
        Duplicate(ids: [5, 6], second: (8, true), cause: .renumbered),
        Duplicate(ids: [5, 6], second: (8, false), cause: .withoutDUP),
        // A receiver without its own IDs.
        Duplicate(ids: [0, 0], second: (7, true), cause: .redelivered),
        Duplicate(ids: [0, 0], second: nil, cause: .answerNotStored),
    ])
    func duplicatesHaveTheirCause(duplicate: Duplicate) async throws {
        var traffic = Traffic()
        let connection = traffic.connected()
        traffic.delivered(1, packetID: 7, isMarkedDuplicate: false, connection: connection)
        if let (packetID, isMarked) = duplicate.second {
            traffic.delivered(1, packetID: packetID, isMarkedDuplicate: isMarked, connection: connection)
        }
        let lines = duplicate.ids.map { "ended 1 \($0)\n" }.joined()
        let tally = try await self.tally(lines, sent: [1: 1], traffic)
        #expect(tally.duplicates == [duplicate.cause: 1])
        #expect(tally.lost == 0)
    }

    @Test func overtakingAcknowledgementsAreNoticed() {
        var traffic = Traffic()
        let connection = traffic.connected()
        for packetID in 1...3 as ClosedRange<UInt16> {
            traffic.delivered(Int(packetID), packetID: packetID, isMarkedDuplicate: false, connection: connection)
        }
        #expect(traffic.mostInFlight == 3)
        traffic.acknowledged(packetID: 1, connection: connection)
        #expect(traffic.acknowledgedOutOfOrder == 0)
        traffic.acknowledged(packetID: 3, connection: connection)
        #expect(traffic.acknowledgedOutOfOrder == 1)
        #expect(traffic.acknowledged == [1, 3])
        #expect(traffic.strayAcknowledgements == 0)
        #expect(traffic.inFlight == 1)
    }

    @Test func acknowledgementsOfNothingAreNoticed() {
        var traffic = Traffic()
        let (first, second) = (traffic.connected(), traffic.connected())
        traffic.delivered(1, packetID: 7, isMarkedDuplicate: false, connection: first)
        traffic.acknowledged(packetID: 8, connection: first)
        // A PUBACK for a message of an earlier connection.
        traffic.acknowledged(packetID: 7, connection: second)
        traffic.acknowledged(packetID: 7, connection: first)
        traffic.acknowledged(packetID: 7, connection: first)
        #expect(traffic.strayAcknowledgements == 3)
        #expect(traffic.acknowledged == [1])
    }

    @Test func whatNobodyAcknowledgedIsCountedAtTheEnd() {
        var traffic = Traffic()
        let (first, second) = (traffic.connected(), traffic.connected())
        for packetID in 1...2 as ClosedRange<UInt16> {
            traffic.delivered(Int(packetID), packetID: packetID, isMarkedDuplicate: false, connection: first)
        }
        traffic.acknowledged(packetID: 1, connection: first)
        traffic.ended(first, byCut: false)
        #expect(!traffic.isDisconnected)
        traffic.ended(second, byCut: true)
        #expect(traffic.isDisconnected)
        #expect(traffic.unacknowledgedAtEnd == [first: 1, second: 0])
    }

    @Test func aDuplicateThatNeverCameBeforeIsNoticed() {
        var traffic = Traffic()
        let connection = traffic.connected()
        traffic.delivered(1, serial: 1, packetID: 1, isMarkedDuplicate: false, connection: connection)
        traffic.delivered(1, serial: 1, packetID: 1, isMarkedDuplicate: true, connection: connection)
        #expect(traffic.unseenDuplicates == 0)
        traffic.delivered(1, serial: 2, packetID: 2, isMarkedDuplicate: true, connection: connection)
        #expect(traffic.unseenDuplicates == 1)
    }
}
