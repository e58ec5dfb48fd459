import Foundation
import KiiPushCore
import TestSupport
import Testing

/// How many messages are told as lost, where a damaged file says several things about them.
extension InboxSalvageTests {
    private func insert(_ numbers: ClosedRange<Int>, bytes: Int, into inbox: Inbox) throws {
        try inbox.insert(
            numbers.map { number in
                var row = NewRow.sample(installation: 1, state: .waiting)
                row.payload = Array("row-\(number + 100_000)".utf8) + [UInt8](repeating: 0x61, count: bytes)
                return row
            })
    }

    /// A file of 50 waiting messages, the last 6 of which came after 41 to 44 were done.
    ///
    /// - Returns: the file's bytes when there were 44.
    private func fillInTwoParts(_ fixture: InboxFixture) throws -> [UInt8] {
        do { try self.insert(1...44, bytes: 400, into: fixture.open()) }
        let older = [UInt8](try Data(contentsOf: URL(filePath: fixture.path)))
        let inbox = try fixture.open()
        for number in 41...44 { try inbox.update(RowChange(sequence: Int64(number), state: .done)) }
        try self.insert(45...50, bytes: 400, into: inbox)
        return older
    }

    private func replace(page: Int, of fixture: InboxFixture, from older: [UInt8]) throws {
        let range = (page - 1) * InboxFixture.pageSize..<page * InboxFixture.pageSize
        try fixture.change { $0.replaceSubrange(range, with: older[range]) }
    }

    @Test func aMessageBetweenTwoThatCannotBeReadIsNotLost() throws {
        let fixture = try InboxFixture()
        // One message a page.
        do { try self.insert(1...12, bytes: 3000, into: fixture.open()) }
        for number in [4, 6] { try fixture.damage(pageWith: "row-\(number + 100_000)") }
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == 10)
        #expect(replacement.lost == 2)
        #expect(replacement.inbox.messageLedger == MessageLedger(received: 12, waiting: 10, lost: 2))
    }

    @Test func messagesThatComeBackHideNoneThatIsLost() throws {
        let fixture = try InboxFixture()
        let older = try self.fillInTwoParts(fixture)
        // A page that rows were moved from may still hold their bytes.
        let place = try #require(Data(older).range(of: Data("row-100044".utf8), options: .backwards)).lowerBound
        try self.replace(page: place / InboxFixture.pageSize + 1, of: fixture, from: older)
        let replacement = try self.replace(fixture)
        let numbers = try self.unfinished(replacement.inbox).map(\.sequence)
        // Those that were done are there as they were, and of the later ones some are gone.
        #expect(numbers.filter { $0 <= 44 } == Array(1...44))
        let lost = 50 - numbers.count
        #expect((1...5).contains(lost))
        #expect(replacement.lost == lost)
        #expect(
            replacement.inbox.messageLedger
                == MessageLedger(received: 50, waiting: Int64(numbers.count), lost: Int64(lost)))
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
    }

    /// Ten came and ten were done meanwhile, so that its number of messages is right.
    @Test func whatAnOlderIndexHasAsOpenIsNotLostIfItIsDone() throws {
        let fixture = try InboxFixture()
        do { try self.insert(1...40, bytes: 400, into: fixture.open()) }
        let older = [UInt8](try Data(contentsOf: URL(filePath: fixture.path)))
        do {
            let inbox = try fixture.open()
            for number in 1...10 { try inbox.update(RowChange(sequence: Int64(number), state: .done)) }
            try self.insert(41...50, bytes: 400, into: inbox)
        }
        try self.replace(page: fixture.rootPage(of: "message_open"), of: fixture, from: older)
        let replacement = try self.replace(fixture)
        #expect(try self.unfinished(replacement.inbox).map(\.sequence) == Array(11...50))
        #expect(replacement.lost == 0)
        #expect(replacement.inbox.messageLedger == MessageLedger(received: 50, waiting: 40, done: 10))
    }
}
