import KiiPushCore
import TestSupport
import Testing

@Suite struct MessageRecordTests {
    private func happened(_ record: MessageRecord) -> [MessageEvent.Kind] { record.events.map(\.kind) }

    private func event(_ kind: MessageEvent.Kind, at seconds: Int64) -> MessageEvent {
        MessageEvent(messageID: 1, at: .at(seconds), kind: kind)
    }

    @Test func remembersAnOrdinaryLife() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        let key = try inbox.transaction { transaction throws(InboxError) in try transaction.installation(id: "inst-1") }
        let row = StoredMessage.sample(installation: key, packetID: 3, at: .at(1000))
        try inbox.transaction { transaction throws(InboxError) in
            _ = try transaction.insert(row, storedAt: .at(1001))
        }
        var record = try #require(try inbox.record(1))
        #expect(record.installationID == "inst-1")
        #expect(record.payload == row.payload)
        #expect(record.packetID == 3)
        #expect(record.state == .running(since: .at(1000)))
        #expect(record.attempts == 0)
        #expect(record.events == [self.event(.received, at: 1000), self.event(.stored, at: 1001)])
        var change = MessageChange(sequence: 1, state: .done, attempts: 1)
        change.verdict = .done(.noData)
        change.attempt = .init(number: 1, startedAt: .of(.at(1003)), endedAt: .of(.at(1004)))
        try inbox.update(change, acknowledgedAt: .at(1002), at: .at(1005))
        record = try #require(try inbox.record(1))
        #expect(
            record.events == [
                self.event(.received, at: 1000), self.event(.stored, at: 1001), self.event(.acknowledged, at: 1002),
                self.event(.started(attempt: 1), at: 1003),
                self.event(.done(.noData, attempt: 1, isLate: false), at: 1004),
            ])
        #expect(record.updatedAt == .at(1004))
        #expect(record.attempts == 1)
        #expect(record.missing == [])
        #expect(try inbox.record(2) == nil)
        #expect(try inbox.lastSequence() == 1)
        // A message without trouble needs no rows in `event`.
        #expect(try SQLiteFile(fixture.path, for: .reading).integer("SELECT count(*) FROM event") == 0)
        #expect(try SQLiteFile(fixture.path, for: .reading).integer("SELECT events FROM message") == 0)
    }

    @Test func keepsTheFirstTimeOfAnAcknowledgementAndEveryEvent() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        let attempts: [(Int64, RowState, MessageChange.Attempt)] = [
            (1002, .retry, .init(number: 1, startedAt: .of(.at(1001)))),
            (1004, .inHand, .init(number: 2)),
            (1006, .presented, .init(number: 2, startedAt: .of(.at(1005)))),
        ]
        for (second, state, attempt) in attempts {
            var change = MessageChange(sequence: 1, state: state, attempts: 1, failure: .threw("no"))
            change.attempt = attempt
            try inbox.update(change, acknowledgedAt: .at(second), at: .at(second))
        }
        var dead = MessageChange(sequence: 1, state: .dead)
        dead.verdict = .dead(.crashed)
        try inbox.update(dead, at: .at(1007))
        #expect(try inbox.record(1)?.state == .dead(reason: .crashed))
        try inbox.transaction { transaction throws(InboxError) in
            try transaction.absorb(into: 1, at: .at(1008))
            try transaction.requeue(1, at: .at(1009))
        }
        let record = try #require(try inbox.record(1))
        #expect(
            record.events == [
                self.event(.received, at: 1000), self.event(.started(attempt: 1), at: 1001),
                self.event(.acknowledged, at: 1002),
                self.event(.failed(attempt: 1, .threw("no"), retryAfter: .seconds(1)), at: 1002),
                self.event(.isolated(attempt: 2), at: 1004), self.event(.started(attempt: 2), at: 1005),
                self.event(.presented, at: 1006), self.event(.dead(.crashed, attempt: nil), at: 1007),
                self.event(.duplicate, at: 1008), self.event(.retried, at: 1009),
            ])
        #expect(record.state == .waiting)
        #expect(!record.missing.contains(.laterEvents))
        #expect(try inbox.row(1)?.reason == nil)
    }

    @Test func takesAMessageInHandAndKeepsWhenItWasAcknowledged() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample(state: .waiting), .sample()])
        try inbox.update(MessageChange(sequence: 2, state: .retry, attempts: 1))
        try inbox.transaction { transaction throws(InboxError) in
            for row in try inbox.rows(.waiting, limit: 1) + inbox.rows(.retry, limit: 1) {
                try transaction.take(row, acknowledgedAt: .at(1002), at: .at(3000))
            }
            for row in try inbox.rows(.inHand, limit: 1) {
                try transaction.take(row, acknowledgedAt: .at(1003), at: .at(3001))
            }
        }
        for sequence in [1, 2] as [Int64] {
            let row = try #require(try inbox.row(sequence))
            #expect(row.state == .inHand)
            #expect(row.nextAttempt == nil)
            #expect(row.attempts == Int(sequence) - 1)
            #expect(row.reason == (sequence == 2 ? "failed" : nil))
            let acknowledged = try inbox.record(sequence)?.events.first { $0.kind == .acknowledged }
            #expect(acknowledged?.at == .at(1002))
        }
        #expect(try inbox.record(1)?.updatedAt == .at(3001))
    }

    @Test func forgetsWhyAnAttemptFailedOnceAnotherSucceeds() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        try inbox.update(MessageChange(sequence: 1, state: .retry, attempts: 1))
        try inbox.update(MessageChange(sequence: 1, state: .done, attempts: 2))
        let row = try #require(try inbox.row(1))
        #expect(row.reason == nil)
        #expect(row.attempts == 2)
    }

    @Test func stopsBeforeABrokerThatRepeatsItselfFillsTheDisk() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample()])
        func absorb(_ numbers: Range<Int64>) throws {
            try inbox.transaction { transaction throws(InboxError) in
                for number in numbers { try transaction.absorb(into: 1, at: .at(1001 + number)) }
            }
        }
        try absorb(0..<256)
        #expect(try inbox.record(1)?.missing.contains(.laterEvents) == false)
        try absorb(256..<1000)
        let record = try #require(try inbox.record(1))
        #expect(record.missing.contains(.laterEvents))
        #expect(record.events.count == 1 + 256)
        #expect(record.events.last?.at == .at(1001 + 255))
        let file = try SQLiteFile(fixture.path, for: .reading)
        #expect(try file.integer("SELECT count(*) FROM event") == 256)
        #expect(try file.integer("SELECT events FROM message") == 257)
        // The ledger still counts duplicates beyond the record's limit.
        #expect(inbox.messageLedger.duplicates == 1000)
    }

    @Test func whatGoesTakesItsEventsAlong() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open { $0.keepsDoneFor = .zero }
        try inbox.insert([.sample(1), .sample(2), .sample(3, state: .dead)])
        try inbox.transaction { transaction throws(InboxError) in
            for sequence in [1, 1, 2] as [Int64] { try transaction.absorb(into: sequence, at: .at(1001)) }
            try transaction.drop(1)
        }
        let file = try SQLiteFile(fixture.path, for: .reading)
        #expect(try file.integers("SELECT message, number FROM event") == [[2, 1], [3, 1]])
        try inbox.update(MessageChange(sequence: 2, state: .done), at: .at(1002))
        _ = try inbox.transaction { transaction throws(InboxError) in
            try transaction.drop(3)
            return try inbox.prune(now: .at(9000), in: transaction)
        }
        #expect(try inbox.record(2) == nil)
        #expect(try file.integer("SELECT count(*) FROM event") == 0)
    }

    @Test func tellsThatAnOlderRecordIsNotThere() throws {
        let inbox = try InboxFixture().open()
        _ = try inbox.transaction { transaction throws(InboxError) in try transaction.insert(.sample(installation: 0)) }
        let record = try #require(try inbox.record(1))
        #expect(record.missing == [.storing])
        #expect(record.installationID == nil)
    }

    @Test func deadLettersAreRecordsWithoutTheirEvents() throws {
        let inbox = try InboxFixture().open()
        var row = StoredMessage.sample(1, state: .dead)
        row.reason = "oversized: 300000 bytes"
        try inbox.insert([row, .sample(2)])
        try inbox.update(
            MessageChange(sequence: 2, state: .dead, attempts: 6, failure: .threw("no disk")), at: .at(1009))
        let letters = try inbox.deadLetterRecords(after: 0, limit: 10)
        #expect(
            letters.map(\.state) == [
                .dead(reason: .oversized(originalLength: 300_000)),
                .dead(reason: .attemptsFailed(.threw("no disk"))),
            ])
        #expect(letters.map(\.attempts) == [0, 6])
        #expect(letters.map(\.updatedAt) == [.at(1000), .at(1009)])
        #expect(letters.allSatisfy { $0.events == [] && $0.missing == [] && $0.installationID == "installation-1" })
        #expect(try inbox.deadLetterRecords(after: 1, limit: 1).map(\.messageID) == [2])
        #expect(try inbox.record(1)?.events.last?.kind == .dead(.oversized(originalLength: 300_000), attempt: nil))
    }
}
