import KiiPushCore
import TestSupport
import Testing

@Suite struct EventTableTests {
    private static let base = Timestamp.at(1000)

    /// The format on the disk, without the columns for message, number and time. A change here needs a new version of
    /// the schema.
    static let golden: [(String, MessageEvent.Kind)] = [
        ("4, NULL, NULL, NULL, NULL", .duplicate),
        ("5, 1, NULL, NULL, NULL", .isolated(attempt: 1)),
        ("8, 3, NULL, NULL, 'newData'", .done(.newData, attempt: 3, isLate: true)),
        ("8, 1, NULL, NULL, 'noData'", .done(.noData, attempt: 1, isLate: true)),
        ("11, NULL, NULL, NULL, NULL", .presented),
        ("12, NULL, NULL, NULL, ''", .opened(.open)),
        ("12, NULL, NULL, NULL, 'reply'", .opened(.custom("reply"))),
        ("14, 2, NULL, 5000, 'failed'", .failed(attempt: 2, .failed, retryAfter: .seconds(5))),
        ("14, 1, NULL, 1000, 'threw: ü'", .failed(attempt: 1, .threw("ü"), retryAfter: .seconds(1))),
        ("15, 6, NULL, NULL, 'rejected: no'", .dead(.rejected("no"), attempt: 6)),
        ("15, NULL, NULL, NULL, 'unexpectedTopic'", .dead(.unexpectedTopic, attempt: nil)),
        ("15, NULL, NULL, NULL, ''", .dead(.other(""), attempt: nil)),
        ("19, NULL, NULL, NULL, NULL", .retried),
    ]

    private func fixture(events: Int = 0) throws -> (inbox: Inbox, file: SQLiteFile, InboxFixture) {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try inbox.insert([.sample()])
        let file = try SQLiteFile(fixture.path, for: .changing)
        try file.execute("UPDATE message SET events = \(events)")
        return (inbox, file, fixture)
    }

    private func write(_ kind: MessageEvent.Kind, into inbox: Inbox, at now: Timestamp) throws {
        var change = MessageChange(sequence: 1, state: .inHand)
        change.attempt = kind.parts.attempt.map { .init(number: $0) }
        switch kind {
        case .duplicate:
            return try inbox.transaction { transaction throws(InboxError) in
                _ = try transaction.absorb(into: 1, at: now)
            }
        case .retried:
            return try inbox.transaction { transaction throws(InboxError) in
                _ = try transaction.requeue(1, at: now)
            }
        case .isolated: break
        case .done(let result, _, _): change.verdict = .done(result)
        case .presented: change.verdict = .presented
        case .opened(let action):
            let message = StoredMessage(sequence: 1, installation: 1, topic: "", payload: [], receivedAt: now)
            change.verdict = .opened(message, by: action)
        case .failed(_, let failure, let pause):
            change.verdict = .retry(after: pause, failure: failure, firstStart: nil)
        case .dead(let reason, _): change.verdict = .dead(reason)
        default: Issue.record("no verdict is recorded as \(kind)")
        }
        try inbox.update(change, at: now)
    }

    @Test(arguments: golden)
    func writesAndReadsTheDocumentedRow(values: String, kind: MessageEvent.Kind) throws {
        let (inbox, file, _) = try self.fixture()
        try self.write(kind, into: inbox, at: Self.base + .milliseconds(12))
        let written = try file.texts(
            """
            SELECT message || number || at_ms || quote(kind) || ', ' || quote(attempt) || ', ' || quote(started_ms) || ', '
                || quote(pause_ms) || ', ' || quote(detail) FROM event
            """)
        #expect(written == ["111000012" + values])
        #expect(
            try inbox.record(1)?.events.last
                == MessageEvent(messageID: 1, at: .at(1000) + .milliseconds(12), kind: kind))
        #expect(try inbox.record(1)?.missing == [.storing])
    }

    @Test func readsManyEventsInARow() throws {
        let (inbox, file, _) = try self.fixture(events: Self.golden.count)
        for (index, golden) in Self.golden.enumerated() {
            try file.execute("INSERT INTO event VALUES (1, \(index + 1), \(1_000_001 + index), \(golden.0))")
        }
        let record = try #require(try inbox.record(1))
        #expect(record.events.dropFirst().map(\.kind) == Self.golden.map(\.1))
        #expect(record.missing == [.storing])
        // Later events are missing if a row is missing. The column `events` limits the rows that are read.
        try file.execute("DELETE FROM event WHERE number = 3")
        #expect(try inbox.record(1)?.events.count == Self.golden.count)
        #expect(try inbox.record(1)?.missing == [.storing, .laterEvents])
        try file.execute("UPDATE message SET events = \(Self.golden.count - 1)")
        #expect(try inbox.record(1)?.missing == [.storing])
    }

    @Test func aStartStandsBesideWhatItCameTo() throws {
        let (inbox, _, _) = try self.fixture()
        var change = MessageChange(sequence: 1, state: .presented, attempts: 1)
        change.attempt = .init(number: 2, startedAt: .of(.at(1001)))
        try inbox.update(change, at: .at(1002))
        let record = try #require(try inbox.record(1))
        #expect(record.events.map(\.kind) == [.received, .started(attempt: 2), .presented])
        #expect(record.events.map(\.at) == [.at(1000), .at(1001), .at(1002)])
    }

    @Test(arguments: [
        "0, 1, 1, 1, 'failed'", "20, 1, 1, 1, 'failed'", "'x', 1, 1, 1, 'failed'", "14, NULL, 1, 1, 'failed'",
        "14, 1, 1, NULL, 'failed'", "14, 1, 1, 1, NULL", "8, 1, 1, 1, 'perhaps'", "8, NULL, NULL, NULL, 'newData'",
        "15, 1, 1, 1, NULL", "12, 1, 1, 1, NULL", "x'04', NULL, NULL, NULL, NULL",
    ])
    func leavesOutWhatItCannotHaveWritten(values: String) throws {
        let (inbox, file, _) = try self.fixture(events: 3)
        try file.execute("INSERT INTO event VALUES (1, 1, 1000001, 4, NULL, NULL, NULL, NULL)")
        try file.execute("INSERT INTO event VALUES (1, 2, 1000002, \(values))")
        try file.execute("INSERT INTO event VALUES (1, 3, 1000003, 19, NULL, NULL, NULL, NULL)")
        let record = try #require(try inbox.record(1))
        #expect(record.missing == [.storing, .laterEvents])
        #expect(record.events.map(\.kind) == [.received, .duplicate, .retried])
    }

    @Test func survivesNumbersThatNobodyHasWritten() throws {
        let (inbox, file, _) = try self.fixture(events: 2)
        for end in [Int64.min, .max] {
            try file.execute(
                """
                DELETE FROM event; UPDATE message SET received_ms = \(end);
                INSERT INTO event VALUES (1, 1, \(end), 14, \(end), \(end), \(end), 'failed');
                INSERT INTO event VALUES (1, 2, 'noon', 15, 'two', x'00', 0.5, x'FF');
                """)
            let record = try #require(try inbox.record(1))
            #expect(record.events.map(\.at) == record.events.map(\.at).sorted())
            for event in record.events { #expect(event.at.description.hasSuffix("Z")) }
            try file.execute("UPDATE message SET events = \(end)")
            #expect(try inbox.record(1)?.missing.contains(.laterEvents) == (end == .max))
            _ = try inbox.transaction { transaction throws(InboxError) in
                try transaction.absorb(into: 1, at: .at(1001))
            }
            try file.execute("UPDATE message SET events = 2")
        }
    }

    @Test func writesOverWhatStandsInItsPlace() throws {
        let (inbox, file, _) = try self.fixture(events: 0)
        try file.execute("INSERT INTO event VALUES (1, 1, 1000001, 4, NULL, NULL, NULL, NULL)")
        #expect(try inbox.transaction { transaction throws(InboxError) in try transaction.requeue(1, at: .at(1002)) })
        #expect(try inbox.record(1)?.events.map(\.kind) == [.received, .retried])
    }

    @Test func verifyingFindsEventsThatAreThereTwice() throws {
        let (inbox, file, _) = try self.fixture(events: 2)
        try file.execute(
            "INSERT INTO event VALUES (1, 1, 1, 4, NULL, NULL, NULL, NULL), (1, 2, 1, 4, NULL, NULL, NULL, NULL)")
        try inbox.verify()
        // SQLite sorts text after all numbers, and reads this text as the number 0.
        try file.execute("UPDATE event SET number = 'x' WHERE number = 2")
        #expect(throws: InboxError.self) { try inbox.verify() }
    }

    @Test func aReasonIsReadFromItsText() {
        let reasons: [DeadLetterReason] = [
            .attemptsFailed(.failed), .attemptsFailed(.threw("a: b")), .attemptsFailed(.unanswered),
            .attemptsFailed(.timedOut), .rejected(""), .crashed, .undecodable("/a"), .command, .unexpectedTopic,
            .oversized(originalLength: 7),
        ]
        for reason in reasons { #expect(DeadLetterReason(reason.description) == reason) }
        for text in ["", "damaged inbox", "oversized: many bytes", "oversized: 7 bytes; cut", "oversized: 07 bytes"] {
            #expect(DeadLetterReason(text) == .other(text))
            #expect(DeadLetterReason(text).description == text)
        }
        #expect(DeadLetterReason("threw: ") == .attemptsFailed(.threw("")))
        #expect(DeliveryFailure("threw: x") == .threw("x"))
        #expect(DeliveryFailure("something new") == .threw("something new"))
    }
}
