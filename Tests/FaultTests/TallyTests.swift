import Faults
import Foundation
import TestSupport
import Testing

/// What is lost is counted as lost, and a duplicate gets the cause that it has.
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
        // 2 was begun only, and the line of 3 is not whole.
        #expect(tally.missing == [2: 1, 3: 1, 4: 1])
        #expect(tally.lost == 3)
        #expect(tally.lostByBroker == 0)
        tally.dead = [4]
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
        // 1 was acknowledged, and is ours to answer for.
        #expect(tally.lost == 1)
        #expect(tally.lostByBroker == 2)
    }

    @Test func equalMessagesCountByTheirIDs() async throws {
        let lines = "began 1 5\nended 1 5\nbegan 1 5\nended 1 5\nbegan 1 6\nended 1 6\n"
        let tally = try await self.tally(lines, sent: [1: 3])
        #expect(tally.lost == 1)
        #expect(tally.duplicates == [:])
    }

    /// A message that was handled twice under these IDs, and came first with packet identifier 7.
    struct Duplicate: Sendable {
        var ids: [Int]
        /// How it came once more, if it did.
        var second: (packetID: UInt16, isMarked: Bool)?
        var cause: DuplicateCause
    }

    @Test(arguments: [
        Duplicate(ids: [5, 5], second: nil, cause: .answerNotStored),
        Duplicate(ids: [5, 6], second: (7, true), cause: .redelivered),
        Duplicate(ids: [5, 6], second: (8, true), cause: .renumbered),
        Duplicate(ids: [5, 6], second: (8, false), cause: .withoutDUP),
        // A receiver without IDs of its own.
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
    }
}
