import KiiPushCore
import SeededNumbers
import TestSupport
import Testing

@Suite struct InboxLedgerTests {
    /// Random transactions of all kinds, some of them rolled back. After each transaction, the ledger must equal a
    /// model in memory and the counts of the file's rows.
    @Test(arguments: 0..<8)
    func accountsForEveryMessageAfterEachTransaction(seed: UInt64) throws {
        let fixture = try InboxFixture()
        var inbox = try fixture.open { $0.keepsDoneBytes = 2000 }
        _ = try inbox.transaction { transaction throws(InboxError) in try transaction.installation(id: "installation-1")
        }
        var random = SeededGenerator(seed: seed)
        var model = LedgerModel()
        var rollbacks = 0
        for step in 0..<150 {
            var attempt = model
            let fails = Int.random(in: 0..<8, using: &random) == 0
            do throws(InboxError) {
                try inbox.transaction { transaction throws(InboxError) in
                    for _ in 0..<Int.random(in: 1...12, using: &random) {
                        try attempt.act(in: transaction, of: inbox, &random, at: .at(Int64(step)))
                    }
                    if seed % 2 == 0 { _ = try inbox.prune(now: .at(Int64(step)), in: transaction) }
                    if fails { throw InboxError(.io, step: "failing on purpose") }
                }
                model = attempt
            } catch {
                rollbacks += 1
            }
            #expect(inbox.messageLedger.isBalanced, "\(inbox.messageLedger)")
            #expect(inbox.messageLedger == model.ledger)
            #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
            if step % 50 == 49 { inbox = try fixture.open { $0.keepsDoneBytes = 2000 } }
        }
        #expect(rollbacks > 5)
        let ledger = inbox.messageLedger
        #expect(ledger.received > 300 && ledger.duplicates > 30 && ledger.done > 10 && ledger.dropped > 5, "\(ledger)")
        if seed % 2 == 0 { #expect(inbox.counts[.done].rows < ledger.done) }
    }

    @Test func auditsFindWhatDoesNotAddUp() throws {
        for damage in [
            "DELETE FROM message WHERE sequence = 2", "UPDATE message SET state = 4 WHERE sequence = 2",
            "UPDATE ledger SET received = received + 1", "UPDATE ledger SET duplicates = duplicates + 1",
            "UPDATE ledger SET pruned = 1", "UPDATE ledger SET expired = 1", "UPDATE ledger SET rows0 = 1",
            "UPDATE ledger SET bytes1 = bytes1 + 1",
            "UPDATE message SET sequence = 9 WHERE sequence = 2", "UPDATE message SET state = 17 WHERE sequence = 2",
        ] {
            let fixture = try InboxFixture()
            do {
                let inbox = try fixture.open()
                try inbox.insert([.sample(), .sample(), .sample()])
            }
            #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
            try SQLiteFile(fixture.path, for: .changing).execute(damage)
            #expect(try LedgerAudit.problems(inInboxAt: fixture.path) != [], "\(damage)")
        }
    }

    @Test func isReadFromAStateDirectoryThatAnotherProcessHolds() throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        let error = #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: fixture.directory) }
        #expect(error == .missing(path: fixture.path))
        let inbox = try fixture.open()
        let reader = try InboxReader(stateDirectory: fixture.directory)
        #expect(try reader.ledger() == MessageLedger())
        try inbox.insert([.sample(), .sample(state: .waiting), .sample(state: .dead)])
        #expect(try reader.ledger() == MessageLedger(received: 3, waiting: 1, running: 1, dead: 1))
        try inbox.transaction { transaction throws(InboxError) in
            try transaction.absorb(into: 2, at: .at(3))
            try transaction.update(MessageChange(sequence: 1, state: .done), at: .at(3))
            try transaction.update(MessageChange(sequence: 2, state: .retry), at: .at(3))
            try transaction.drop(3)
        }
        #expect(try reader.ledger() == MessageLedger(received: 4, duplicates: 1, waiting: 1, done: 1, dropped: 1))
        #expect(try LedgerAudit.problems(inStateDirectory: fixture.directory) == [])
    }

    @Test func absorbsNothingIntoARowThatIsGone() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        let absorbedBy = try inbox.transaction { transaction throws(InboxError) in
            try transaction.absorb(into: 2, at: .at(1))
        }
        #expect(absorbedBy == nil)
        #expect(inbox.messageLedger == MessageLedger(received: 1, running: 1))
    }

    @Test func saysWhatIsMissing() {
        let balanced = MessageLedger(
            received: 8, duplicates: 1, waiting: 1, running: 1, done: 2, dead: 1, expired: 1, dropped: 1)
        #expect(balanced.isBalanced)
        var lost = balanced
        lost.received += 2
        #expect(!lost.isBalanced)
        #expect(lost.unaccounted == 2)
        #expect(
            lost.description
                == "received 10 = done 2 + presented 0 + waiting 1 + running 1 + dead 1 + expired 1 + lost 0 + dropped 1 "
                + "+ duplicates 1, unaccounted 2")
    }
}

private struct LedgerModel {
    /// Pruned rows stay here as done.
    var rows: [Int64: RowState] = [:]
    var last: Int64 = 0
    var duplicates: Int64 = 0
    var dropped: Int64 = 0

    var ledger: MessageLedger {
        func count(_ states: RowState...) -> Int64 { Int64(self.rows.values.count { states.contains($0) }) }
        return MessageLedger(
            received: self.last + self.duplicates, duplicates: self.duplicates, waiting: count(.waiting, .retry),
            running: count(.inHand), presented: count(.presented), done: count(.done), dead: count(.dead),
            dropped: self.dropped)
    }

    mutating func act(
        in transaction: InboxTransaction, of inbox: Inbox, _ random: inout SeededGenerator, at now: Timestamp
    ) throws(InboxError) {
        let sequence = self.last == 0 ? 1 : Int64.random(in: 1...self.last, using: &random)
        switch Int.random(in: 0..<11, using: &random) {
        case 0...3:
            let state = [RowState.inHand, .waiting, .dead].randomElement(using: &random) ?? .inHand
            let bytes = Int.random(in: 0..<50, using: &random)
            self.last = try transaction.insert(.sample(bytes: bytes, state: state, at: now))
            self.rows[self.last] = state
        case 4:
            if try transaction.absorb(into: sequence, at: now) != nil { self.duplicates += 1 }
        case 5:
            // A pruned row does not exist any more, and a done message stays counted as done.
            if try inbox.row(sequence) != nil, try transaction.drop(sequence), self.rows[sequence] != .done {
                self.dropped += 1
                self.rows[sequence] = nil
            }
        case 6:
            if try transaction.requeue(sequence, at: now) { self.rows[sequence] = .waiting }
        case 7:
            let state = [RowState.waiting, .retry].randomElement(using: &random) ?? .waiting
            for row in try inbox.rows(state, limit: 2) {
                try transaction.take(row, acknowledgedAt: nil, at: now)
                self.rows[row.sequence] = .inHand
            }
        default:
            guard let old = self.rows[sequence], old != .done else { return }
            let state = RowState.allCases.randomElement(using: &random) ?? .done
            if try transaction.update(MessageChange(sequence: sequence, state: state), at: now) != nil {
                self.rows[sequence] = state
            }
        }
    }
}
