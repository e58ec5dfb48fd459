import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxRecordTests {
    @Test func remembersAnOrdinaryLife() throws {
        let inbox = try InboxFixture().open()
        let key = try inbox.transaction { transaction throws(InboxError) in try transaction.installation(id: "inst-1") }
        var row = NewRow.sample(installation: key, packetID: 3, at: .at(1000))
        row.storedAt = .at(1001)
        try inbox.insert([row])
        var record = try #require(try inbox.record(1))
        #expect(record.row == (try inbox.row(1)))
        #expect(record.installationID == "inst-1")
        #expect(record.storedAt == .at(1001))
        #expect(record.acknowledgedAt == nil)
        var change = RowChange(sequence: 1, state: .done)
        change.acknowledgedAt = .at(1002)
        change.startedAt = .at(1003)
        change.answer = .noData
        try inbox.update(change, at: .at(1004))
        record = try #require(try inbox.record(1))
        #expect(record.acknowledgedAt == .at(1002))
        #expect(record.startedAt == .at(1003))
        #expect(record.answer == .noData)
        #expect(record.row.updatedAt == .at(1004))
        #expect(record.trail == [])
        #expect(record.isTrailWhole)
        #expect(try inbox.record(2) == nil)
        #expect(try inbox.lastSequence() == 1)
    }

    @Test func keepsTheFirstTimeOfAnAcknowledgementAndEveryEvent() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        var expected: [RowTrail.Entry] = []
        for (second, event) in [
            (1001, RowTrail.Event.failed(attempt: 1, startedAt: .at(1000), failure: "failed", pause: .seconds(1))),
            (1002, .isolated(attempt: 2)),
            (1003, .presented(attempt: 2, startedAt: .at(1002))),
        ] {
            var change = RowChange(sequence: 1, state: .inHand, attempts: 1)
            change.acknowledgedAt = .at(Int64(second))
            change.event = event
            try inbox.update(change, at: .at(Int64(second)))
            expected.append(.init(event, at: .at(Int64(second))))
        }
        try inbox.update(RowChange(sequence: 1, state: .dead, reason: "crashed"), at: .at(1004))
        try inbox.transaction { transaction throws(InboxError) in
            try transaction.absorb(into: 1, at: .at(1005))
            try transaction.requeue(1, at: .at(1006))
        }
        let record = try #require(try inbox.record(1))
        #expect(record.acknowledgedAt == .at(1001))
        #expect(record.trail == expected + [.init(.duplicate, at: .at(1005)), .init(.requeued, at: .at(1006))])
        #expect(record.isTrailWhole)
        #expect(record.row.message.reason == nil)
        #expect(record.startedAt == nil)
    }

    @Test func takesAMessageInHandAndKeepsWhenItWasAcknowledged() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample(state: .waiting), .sample()])
        try inbox.update(RowChange(sequence: 2, state: .retry, attempts: 1, nextAttempt: .at(3000), reason: "failed"))
        try inbox.transaction { transaction throws(InboxError) in
            for row in try inbox.rows(.waiting, limit: 1) + inbox.rows(.retry, limit: 1) {
                try transaction.take(row, acknowledgedAt: .at(1002), at: .at(3000))
            }
            // What is known of one that was acknowledged before stays.
            for row in try inbox.rows(.inHand, limit: 1) {
                try transaction.take(row, acknowledgedAt: .at(1003), at: .at(3001))
            }
        }
        for sequence in [1, 2] as [Int64] {
            let record = try #require(try inbox.record(sequence))
            #expect(record.row.state == .inHand)
            #expect(record.acknowledgedAt == .at(1002))
            #expect(record.row.nextAttempt == nil)
            #expect(record.row.attempts == Int(sequence) - 1)
            #expect(record.row.message.reason == (sequence == 2 ? "failed" : nil))
        }
        #expect(try inbox.record(1)?.row.updatedAt == .at(3001))
    }

    @Test func forgetsWhyAnAttemptFailedOnceAnotherSucceeds() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        try inbox.update(RowChange(sequence: 1, state: .retry, attempts: 1, nextAttempt: .at(3), reason: "failed"))
        try inbox.update(RowChange(sequence: 1, state: .done, attempts: 2))
        let row = try #require(try inbox.row(1))
        #expect(row.message.reason == nil)
        #expect(row.attempts == 2)
    }

    @Test func stopsBeforeABrokerThatRepeatsItselfFillsTheDisk() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample()])
        try inbox.transaction { transaction throws(InboxError) in
            for second in 0..<10_000 { try transaction.absorb(into: 1, at: .at(1000 + Int64(second))) }
        }
        let record = try #require(try inbox.record(1))
        #expect(!record.isTrailWhole)
        #expect(record.trail.count > 1000 && record.trail.count < 10_000)
        #expect(record.trail.last?.at == .at(1000 + Int64(record.trail.count) - 1))
        let file = try SQLiteFile(fixture.path, for: .reading)
        #expect(try file.integer("SELECT length(trail) FROM message") < Int64(RowTrail.limit) + 100)
        // What is counted goes on.
        #expect(inbox.messageLedger.duplicates == 10_000)
    }

    @Test func tellsThatAnOlderRecordIsNotThere() throws {
        let inbox = try InboxFixture().open()
        _ = try inbox.transaction { transaction throws(InboxError) in try transaction.insert(.sample(installation: 0)) }
        let record = try #require(try inbox.record(1))
        #expect(record.storedAt == nil)
        #expect(record.installationID == nil)
    }
}
