import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxTests {
    @Test func keepsWhatItWasGivenAcrossReopening() throws {
        let fixture = try InboxFixture()
        var row = StoredMessage(
            installation: 3, topic: "tøpic/ü", payload: [0, 255, 1], originalLength: 300_000, qos: 2, duplicate: true,
            retain: true, packetID: 65_535, connection: 9, receivedAt: .at(123), state: .waiting, reason: nil)
        let sequence = try #require(try fixture.open().insert([row]).first)
        let stored = try #require(try fixture.open().row(sequence))
        row.sequence = sequence
        #expect(stored == row)
        #expect(stored.attempts == 0)
        #expect(stored.crashes == 0)
        #expect(stored.nextAttempt == nil)
        #expect(stored.updatedAt == .at(123))
    }

    @Test func takesEmptyPayloads() throws {
        let inbox = try InboxFixture().open()
        let sequence = try #require(try inbox.insert([.sample(bytes: 0)]).first)
        #expect(try inbox.row(sequence)?.payload == [])
        #expect(try inbox.matches(sequence, topic: "topic", payload: []))
    }

    @Test func numbersRowsOnAndOnEvenAfterTheirRemoval() throws {
        let fixture = try InboxFixture()
        #expect(try fixture.open().insert([.sample(), .sample(state: .dead)]) == [1, 2])
        do {
            let inbox = try fixture.open()
            let isDropped = try inbox.transaction { transaction throws(InboxError) in
                try transaction.drop(2)
            }
            #expect(isDropped)
        }
        #expect(try fixture.open().insert([.sample()]) == [3])
    }

    @Test func appliesChanges() throws {
        let inbox = try InboxFixture().open()
        let sequence = try #require(try inbox.insert([.sample()]).first)
        try inbox.update(
            MessageChange(
                sequence: sequence, state: .retry, attempts: 2, crashes: 1, pause: .seconds(3000), failure: .timedOut))
        var row = try #require(try inbox.row(sequence))
        #expect(row.state == .retry)
        #expect(row.attempts == 2)
        #expect(row.crashes == 1)
        #expect(row.nextAttempt == .at(5000))
        #expect(row.reason == "timedOut")
        #expect(row.updatedAt == .at(2000))
        try inbox.update(MessageChange(sequence: sequence, state: .inHand, attempts: 2))
        row = try #require(try inbox.row(sequence))
        #expect(row.attempts == 2)
        #expect(row.reason == "timedOut")
        #expect(row.nextAttempt == nil)
        try inbox.update(MessageChange(sequence: sequence, state: .done))
        row = try #require(try inbox.row(sequence))
        #expect(row.state == .done)
        #expect(row.reason == nil)
        #expect(try !inbox.update(MessageChange(sequence: 99, state: .done)))
    }

    @Test func pagesThroughOneStateOfOneInstallationInOrder() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert((0..<10).map { .sample($0, installation: Int64($0 % 2), state: $0 < 8 ? .waiting : .inHand) })
        let first = try inbox.rows(.waiting, installation: 1, limit: 3)
        #expect(first.map(\.sequence) == [2, 4, 6])
        #expect(try inbox.rows(.waiting, installation: 1, after: 6, limit: 3).map(\.sequence) == [8])
        #expect(try inbox.rows(.inHand, installation: 1, limit: 3).map(\.sequence) == [10])
        #expect(try inbox.rows(.waiting, after: 6, limit: 9).map(\.sequence) == [7, 8])
    }

    @Test func findsDueRetriesAndThoseThatAClockSetBackHasPutTooFarAhead() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert((0..<4).map { .sample($0) } + [.sample(installation: 2)])
        for (sequence, due) in [(1, 3000), (2, 2000), (3, 2500), (4, 90_000)] as [(Int64, Int64)] {
            try inbox.update(MessageChange(sequence: sequence, state: .retry, pause: .seconds(due - 2000)))
        }
        let longest = Duration.seconds(1800)
        #expect(try inbox.nextRetry(installation: 1) == .at(2000))
        #expect(try inbox.nextRetry(installation: 2) == nil)
        let due = try inbox.dueRetries(installation: 1, now: .at(2500), longestDelay: longest, limit: 10)
        #expect(due.map(\.sequence) == [2, 3, 4])
        let one = try inbox.dueRetries(installation: 1, now: .at(2500), longestDelay: longest, limit: 1)
        #expect(one.map(\.sequence) == [2])
        let all = try inbox.dueRetries(installation: 1, now: .at(89_000), longestDelay: longest, limit: 10)
        #expect(all.map(\.sequence) == [2, 3, 1])
    }

    @Test func retriesKeepTheirDelaysWhenTheCalendarIsSet() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample(), .sample(installation: 2), .sample(state: .waiting)])
        for sequence in 1...2 as ClosedRange<Int64> {
            try inbox.update(MessageChange(sequence: sequence, state: .retry, pause: .zero))
        }
        try inbox.transaction { transaction throws(InboxError) in try transaction.moveRetries(by: .seconds(-1500)) }
        #expect(try inbox.nextRetry(installation: 1) == .at(500))
        #expect(try inbox.nextRetry(installation: 2) == .at(500))
        #expect(try inbox.row(3)?.nextAttempt == nil)
        try inbox.transaction { transaction throws(InboxError) in try transaction.moveRetries(by: .seconds(86_400)) }
        #expect(try inbox.nextRetry(installation: 1) == .at(86_900))
    }

    @Test(arguments: [
        ("topic", [1, 2, 3] as [UInt8], nil as Int?, true),
        ("topic", [1, 2, 4], nil, false),
        ("topic", [1, 2], nil, false),
        ("topic", [1, 2, 3, 4], nil, false),
        ("topiC", [1, 2, 3], nil, false),
        ("topic", [1, 2, 3], 5, false),
        // Swift compares these two forms of "é" as equal, but their bytes differ.
        ("cafe\u{301}", [1, 2, 3], nil, true),
        ("caf\u{e9}", [1, 2, 3], nil, false),
    ])
    func comparesTopicAndBytesExactly(topic: String, payload: [UInt8], length: Int?, isEqual: Bool) throws {
        let inbox = try InboxFixture().open()
        let stored = topic.hasPrefix("caf") ? "cafe\u{301}" : "topic"
        try inbox.insert([StoredMessage(installation: 1, topic: stored, payload: [1, 2, 3], receivedAt: .at(1))])
        #expect(try inbox.matches(1, topic: topic, payload: payload, originalLength: length) == isEqual)
        #expect(try !inbox.matches(2, topic: topic, payload: payload, originalLength: length))
    }

    @Test func knowsWhichAcknowledgementsAreNotProven() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        let (one, two) = try inbox.transaction { transaction throws(InboxError) in
            (try transaction.installation(id: "one"), try transaction.installation(id: "two"))
        }
        #expect(one != two)
        #expect(try inbox.installation(id: "one") == one)
        #expect(try inbox.installation(id: "three") == nil)
        try inbox.insert([
            .sample(installation: one, packetID: 1), .sample(installation: two, packetID: 2),
            .sample(installation: one), .sample(installation: one, packetID: 3),
        ])
        #expect(try inbox.unproven(installation: one).map(\.packetID) == [1, 3])
        try inbox.transaction { transaction throws(InboxError) in
            // A lower number marks later messages as unproven again.
            try transaction.markProven(installation: one, through: 4)
            try transaction.markProven(installation: one, through: 3)
        }
        let reopened = try fixture.open { $0.isReadOnly = true }
        #expect(try reopened.unproven(installation: one) == [.init(sequence: 4, packetID: 3)])
        #expect(try reopened.unproven(installation: two).map(\.sequence) == [2])
        #expect(try reopened.unproven(installation: 77).isEmpty)
        #expect(
            try reopened.unproven() == [
                one: [.init(sequence: 4, packetID: 3)], two: [.init(sequence: 2, packetID: 2)],
            ])
    }

    @Test func countsRowsAndBytesByState() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample(bytes: 100), .sample(bytes: 10, state: .waiting), .sample(bytes: 1, state: .dead)])
        let flat = InboxCounts.rowOverhead + 5
        #expect(inbox.counts[.inHand] == .init(rows: 1, bytes: 100 + flat))
        #expect(inbox.counts.pendingBytes == 110 + 2 * flat)
        try inbox.update(MessageChange(sequence: 1, state: .done))
        #expect(inbox.counts[.inHand] == .init())
        #expect(inbox.counts[.done] == .init(rows: 1, bytes: 100 + flat))
        #expect(inbox.counts.pendingBytes == 10 + flat)
        #expect(try fixture.open { $0.isReadOnly = true }.counts == inbox.counts)
    }

    /// With the length from delivery, the inbox need not read the row. A wrong length must not change the counts.
    @Test(arguments: [(.inHand, 105), (.waiting, 105), (.inHand, 104), (.done, 105)] as [(RowState, Int)])
    func theCommonEndIsCountedLikeAnyOther(state: RowState, told: Int) throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample(bytes: 100, state: state), .sample(bytes: 10)])
        var change = MessageChange(sequence: 1, state: .done)
        change.bytes = told
        #expect(try inbox.update(change))
        #expect(inbox.counts[.done] == .init(rows: 1, bytes: 105 + InboxCounts.rowOverhead))
        #expect(inbox.counts[.inHand].rows == 1)
        #expect(try fixture.open { $0.isReadOnly = true }.counts == inbox.counts)
    }

    @Test func whatIsShownToTheUserIsNotWhatWaitsForAHandler() throws {
        let inbox = try InboxFixture().open()
        let installation = try inbox.transaction { transaction throws(InboxError) in
            try transaction.installation(id: "one")
        }
        try inbox.insert([
            .sample(installation: installation, bytes: 100),
            .sample(installation: installation, bytes: 10, state: .waiting),
        ])
        try inbox.update(MessageChange(sequence: 1, state: .presented))
        let waiting = 10 + InboxCounts.rowOverhead + 5
        #expect(inbox.counts.pendingBytes == waiting)
        #expect(try inbox.pendingBytes(besides: []) == waiting)
        // After the user opens the notification, the message waits for a handler.
        try inbox.update(MessageChange(sequence: 1, state: .waiting))
        #expect(inbox.counts.pendingBytes == 110 + 2 * (waiting - 10))
        #expect(try inbox.pendingBytes(besides: []) == inbox.counts.pendingBytes)
    }

    @Test func retriesAndDropsMessagesWhereverTheyStand() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample(state: .dead), .sample(state: .dead), .sample()])
        try inbox.update(MessageChange(sequence: 1, state: .dead, attempts: 6, crashes: 2, failure: .timedOut))
        #expect(try inbox.deadLetters(limit: 10).map(\.sequence) == [1, 2])
        try inbox.transaction { transaction throws(InboxError) in
            #expect(try transaction.requeue(1, at: .at(9)))
            #expect(try transaction.requeue(3, at: .at(9)))
            #expect(try !transaction.requeue(4, at: .at(9)))
            #expect(try transaction.drop(2))
            #expect(try transaction.drop(3))
            #expect(try !transaction.drop(2))
        }
        let row = try #require(try inbox.row(1))
        #expect(row.state == .waiting)
        #expect(row.attempts == 0)
        #expect(row.crashes == 0)
        #expect(try inbox.row(2) == nil)
        #expect(try inbox.deadLetters(limit: 10).isEmpty)
        #expect(inbox.counts[.dead] == .init())
    }

    @Test func numbersThatNobodyHasWrittenAreHeldToWhatCanBe() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        let key = try inbox.transaction { transaction throws(InboxError) in
            try transaction.installation(id: "installation-1")
        }
        try inbox.insert([.sample(installation: key, packetID: 7), .sample(installation: key, packetID: 8)])
        for sequence in Int64(1)...2 {
            try inbox.update(MessageChange(sequence: sequence, state: .retry))
        }
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            UPDATE message SET attempts = -1, crashes = -4611686018427387904, next_attempt_ms = \(Int64.min),
                updated_ms = \(Int64.min), received_ms = -1, qos = 255, packet_id = 65543, original_length = -5
                WHERE sequence = 1;
            UPDATE message SET attempts = \(Int64.max), crashes = 1000001, next_attempt_ms = \(Int64.max),
                updated_ms = \(Int64.max), received_ms = \(Int64.max), original_length = \(Int64.max)
                WHERE sequence = 2;
            """)
        #expect(try inbox.nextRetry(installation: key) == .at(0))
        let low = try #require(try inbox.row(1))
        #expect(low.attempts == 0 && low.crashes == 0 && low.nextAttempt == .at(0) && low.updatedAt == .at(0))
        #expect(low.receivedAt == .at(0) && low.originalLength == 0)
        #expect(low.qos == 2 && low.packetID == nil)
        let high = try #require(try inbox.row(2))
        #expect(high.attempts == 1_000_000 && high.crashes == 1_000_000)
        #expect(high.nextAttempt?.description == "9999-12-31T23:59:59.999Z" && high.nextAttempt == high.updatedAt)
        #expect(high.receivedAt == high.updatedAt && high.originalLength == 1 << 30)
        // Message 1 has an impossible packet ID, so it is not listed.
        #expect(try inbox.unproven(installation: key).map(\.packetID) == [8])
    }
}
