import Foundation
import KiiPushCore
import TestSupport
import Testing

/// The number of lost messages, if the parts of a damaged file contradict each other.
extension InboxSalvageTests {
    private func insert(_ numbers: ClosedRange<Int>, bytes: Int, into inbox: Inbox) throws {
        try inbox.insert(
            numbers.map { number in
                var row = StoredMessage.sample(installation: 1, state: .waiting)
                row.payload = Array("row-\(number + 100_000)".utf8) + [UInt8](repeating: 0x61, count: bytes)
                return row
            })
    }

    /// Fills a file with 50 messages. The last 6 arrive after the file was copied.
    ///
    /// - Parameters:
    ///   - between: changes before the copy.
    ///   - afterwards: changes after the copy, before the last messages.
    /// - Returns: the bytes of the copy.
    private func fillInTwoParts(
        _ fixture: InboxFixture, between: (Inbox) throws -> Void = { _ in }, afterwards: (Inbox) throws -> Void
    ) throws -> [UInt8] {
        do {
            let inbox = try fixture.open()
            try self.insert(1...44, bytes: 400, into: inbox)
            try between(inbox)
        }
        let older = [UInt8](try Data(contentsOf: URL(filePath: fixture.path)))
        let inbox = try fixture.open()
        try afterwards(inbox)
        try self.insert(45...50, bytes: 400, into: inbox)
        return older
    }

    private func finish(_ numbers: ClosedRange<Int>, in inbox: Inbox) throws {
        for number in numbers { try inbox.update(MessageChange(sequence: Int64(number), state: .done)) }
    }

    private func replace(page: Int, of fixture: InboxFixture, from older: [UInt8]) throws {
        let range = (page - 1) * InboxFixture.pageSize..<page * InboxFixture.pageSize
        try fixture.change { $0.replaceSubrange(range, with: older[range]) }
    }

    private func replace(pageWith text: String, of fixture: InboxFixture, from older: [UInt8]) throws {
        // Backwards, because a page whose rows moved may still hold their bytes.
        let place = try #require(Data(older).range(of: Data(text.utf8), options: .backwards)).lowerBound
        try self.replace(page: place / InboxFixture.pageSize + 1, of: fixture, from: older)
    }

    @Test func aMessageBetweenTwoThatCannotBeReadIsNotLost() throws {
        let fixture = try InboxFixture()
        // One message a page.
        do { try self.insert(1...12, bytes: 3000, into: fixture.open()) }
        for number in [4, 6] { try fixture.damage(pageWith: "row-\(number + 100_000)") }
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == 10)
        #expect(replacement.lost == 2)
        #expect(replacement.messageLedger == MessageLedger(received: 12, waiting: 10, lost: 2))
    }

    @Test func messagesThatComeBackHideNoneThatIsLost() throws {
        let fixture = try InboxFixture()
        let older = try self.fillInTwoParts(fixture) { try self.finish(41...44, in: $0) }
        try self.replace(pageWith: "row-100044", of: fixture, from: older)
        let replacement = try self.replace(fixture)
        let numbers = try self.unfinished(replacement).map(\.sequence)
        // The older page brings done messages back as open, and lacks some of the later messages.
        #expect(numbers.filter { $0 <= 44 } == Array(1...44))
        let lost = 50 - numbers.count
        #expect((1...5).contains(lost))
        #expect(replacement.lost == lost)
        #expect(
            replacement.messageLedger
                == MessageLedger(received: 50, waiting: Int64(numbers.count), lost: Int64(lost)))
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
    }

    /// Message 42 is done in the older page, but a person retried it later.
    @Test func aMessageThatIsDoneInTheTableAloneBecomesADeadLetter() throws {
        let fixture = try InboxFixture()
        let older = try self.fillInTwoParts(fixture) {
            try self.finish(41...44, in: $0)
        } afterwards: { inbox in
            try inbox.transaction { transaction throws(InboxError) in _ = try transaction.requeue(42, at: .at(3000)) }
        }
        try self.replace(pageWith: "row-100044", of: fixture, from: older)
        let replacement = try self.replace(fixture)
        let row = try #require(try replacement.row(42))
        #expect(row.state == .dead)
        #expect(row.reason == "damaged inbox: whether it was handled could not be read")
        let numbers = try self.unfinished(replacement).map(\.sequence)
        #expect(numbers.filter { $0 <= 44 } == Array(1...40) + [42])
        #expect(replacement.lost == 47 - numbers.count)
        #expect(replacement.messageLedger.received == 50)
        #expect(replacement.messageLedger.done == 3)
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
    }

    /// Ten messages arrived and ten ended since the older index, so its number of open messages is right.
    @Test func whatAnOlderIndexHasAsOpenIsNotLostIfItIsDone() throws {
        let fixture = try InboxFixture()
        do { try self.insert(1...40, bytes: 400, into: fixture.open()) }
        let older = [UInt8](try Data(contentsOf: URL(filePath: fixture.path)))
        do {
            let inbox = try fixture.open()
            try self.finish(1...10, in: inbox)
            try self.insert(41...50, bytes: 400, into: inbox)
        }
        try self.replace(page: fixture.rootPage(of: "message_open"), of: fixture, from: older)
        #expect(#expect(throws: InboxError.self) { try fixture.open() }?.kind == .corrupt)
        let replacement = try self.replace(fixture)
        #expect(try self.unfinished(replacement).map(\.sequence) == Array(11...50))
        #expect(replacement.lost == 0)
        #expect(replacement.messageLedger == MessageLedger(received: 50, waiting: 40, done: 10))
    }
}
