import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxPruningTests {
    private func prune(_ inbox: Inbox, at now: Timestamp) throws -> Int {
        var steps = 0
        while try inbox.transaction({ transaction throws(InboxError) in try inbox.prune(now: now, in: transaction) })
            == .zero
        { steps += 1 }
        return steps
    }

    private func sequences(_ inbox: Inbox) throws -> [Int64] {
        try RowState.allCases.flatMap { try inbox.rows($0, limit: 10_000).map(\.sequence) }.sorted()
    }

    @Test func removesDoneRowsOfYesterdayAndNoOthers() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert((0..<6).map { .sample($0) })
        try inbox.update(MessageChange(sequence: 1, state: .done), at: .at(0))
        try inbox.update(MessageChange(sequence: 2, state: .dead), at: .at(0))
        try inbox.update(MessageChange(sequence: 3, state: .done), at: .at(1))
        try inbox.update(MessageChange(sequence: 4, state: .done), at: .at(100))
        #expect(try self.prune(inbox, at: .at(24 * 3600 + 2)) == 0)
        #expect(try self.sequences(inbox) == [2, 4, 5, 6])
        #expect(try self.prune(inbox, at: .at(24 * 3600 + 61)) == 0)
        #expect(try self.sequences(inbox) == [2, 4, 5, 6])
        #expect(try self.prune(inbox, at: .at(24 * 3600 + 101)) == 0)
        #expect(try self.sequences(inbox) == [2, 5, 6])
    }

    @Test func removesTheOldestDoneRowsBeyondTheBytesInSmallSteps() throws {
        let inbox = try InboxFixture().open { $0.keepsDoneBytes = 100 * 200 }
        try inbox.insert((0..<1000).map { .sample($0, bytes: 200 - 5 - Int(InboxCounts.rowOverhead)) })
        try inbox.transaction { transaction throws(InboxError) in
            for sequence in Int64(1)...1000 where sequence != 3 {
                try transaction.update(MessageChange(sequence: sequence, state: .done), at: .at(1))
            }
        }
        #expect(try self.prune(inbox, at: .at(2)) >= 4)
        #expect(inbox.counts[.done] == .init(rows: 100, bytes: 100 * 200))
        #expect(try self.sequences(inbox) == [3] + Array(901...1000))
        #expect(try self.prune(inbox, at: .at(2)) == 0)
    }

    @Test func saysWhenItIsToBeCalledAgain() throws {
        let inbox = try InboxFixture().open()
        func wait(at seconds: Int64) throws -> Duration {
            try inbox.transaction { transaction throws(InboxError) in
                try inbox.prune(now: .at(seconds), in: transaction)
            }
        }
        #expect(try wait(at: 1000) == .seconds(60))
        #expect(try wait(at: 1010) == .seconds(50))
        #expect(try wait(at: 1060) == .seconds(60))
        // If the clock is set back by an hour, the next sweep still comes after a minute.
        #expect(try wait(at: -2600) == .seconds(60))
        #expect(try wait(at: -2550) == .seconds(10))
    }

    @Test func oneRowThatWasDoneLateDoesNotKeepItsNeighbours() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert((0..<6).map { .sample($0) })
        for sequence in Int64(1)...6 {
            try inbox.update(MessageChange(sequence: sequence, state: .done), at: .at(sequence == 1 ? 80_000 : 0))
        }
        _ = try self.prune(inbox, at: .at(24 * 3600 + 2))
        #expect(try self.sequences(inbox) == [1])
    }

    @Test func theOldestGoFirstOverManyCommits() throws {
        let inbox = try self.bounded(rows: 500)
        for sequence in Int64(1)...2000 {
            try inbox.insert([Self.row])
            try inbox.update(MessageChange(sequence: sequence, state: .done), at: .at(1))
            #expect(try self.prune(inbox, at: .at(2)) == 0)
        }
        #expect(try self.sequences(inbox) == Array(1501...2000))
    }

    @Test func whatWaitsIsPassedOnce() throws {
        let inbox = try self.bounded(rows: 300)
        try inbox.insert([StoredMessage](repeating: Self.row, count: 3000))
        var steps = try self.prune(inbox, at: .at(2))
        for sequence in Int64(3001)...4000 {
            try inbox.insert([Self.row])
            try inbox.update(MessageChange(sequence: sequence, state: .done), at: .at(1))
            steps += try self.prune(inbox, at: .at(2))
        }
        #expect(try self.sequences(inbox) == Array(1...3000) + Array(3701...4000))
        // The waiting rows take 15 steps each time that the pruning passes them: once for old rows, once for rows
        // beyond the limit.
        #expect((15...32).contains(steps))
    }

    @Test func rowsThatAreDoneAfterTheyWerePassedGoInTheOrderInWhichTheyWereDone() throws {
        let inbox = try self.bounded(rows: 1)
        try inbox.insert([StoredMessage](repeating: Self.row, count: 1500))
        var steps = try self.prune(inbox, at: .at(2))
        for sequence in (Int64(1)...1000).reversed() {
            try inbox.update(MessageChange(sequence: sequence, state: .done), at: .at(1))
            steps += try self.prune(inbox, at: .at(2))
            // If the pruning had passed neither of two done rows, the row that was received first goes. Afterwards the
            // row that was done first goes.
            #expect(try inbox.rows(.done, limit: 3).map(\.sequence) == [sequence == 999 ? 1000 : sequence])
        }
        #expect(steps < 32)
        // The limit also holds after a sweep for old rows, which forgets the rows passed so far.
        try inbox.update(MessageChange(sequence: 1200, state: .done), at: .at(100))
        _ = try self.prune(inbox, at: .at(100))
        #expect(inbox.counts[.done].rows == 1)
    }

    private static let row = StoredMessage.sample(bytes: 200 - 5 - Int(InboxCounts.rowOverhead))

    private func bounded(rows: Int64) throws -> Inbox {
        var configuration = Inbox.Configuration()
        configuration.keepsDoneBytes = rows * 200
        return try Inbox(path: ":memory:", configuration: configuration)
    }

    @Test func startsAgainAfterARollback() throws {
        let inbox = try InboxFixture().open { $0.keepsDoneBytes = 0 }
        try inbox.insert([.sample()])
        try inbox.update(MessageChange(sequence: 1, state: .done))
        #expect(throws: InboxError.self) {
            try inbox.transaction { transaction throws(InboxError) in
                _ = try inbox.prune(now: .at(3000), in: transaction)
                throw InboxError(.io, step: "failing on purpose")
            }
        }
        #expect(try self.sequences(inbox) == [1])
        #expect(try self.prune(inbox, at: .at(3000)) == 0)
        #expect(try self.sequences(inbox) == [])
        #expect(inbox.counts[.done] == .init())
    }

    @Test func givesUpOnPagesThatAFileDoesNotGiveBack() throws {
        let fixture = try InboxFixture()
        var inbox = try fixture.open { $0.keepsDoneBytes = 0 }
        try inbox.insert((0..<300).map { .sample($0, bytes: 50_000) })
        for sequence in Int64(1)...300 { try inbox.update(MessageChange(sequence: sequence, state: .done), at: .at(1)) }
        inbox = try Inbox(path: ":memory:", configuration: Inbox.Configuration())
        let file = try SQLiteFile(fixture.path, for: .changing)
        try file.execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM")
        inbox = try fixture.open { $0.keepsDoneBytes = 0 }
        var wait = Duration.zero
        for _ in 1...100 where wait == .zero {
            wait = try inbox.transaction { transaction throws(InboxError) in
                try inbox.prune(now: .at(2), in: transaction)
            }
        }
        #expect(wait == .seconds(60))
        #expect(try self.sequences(inbox) == [])
        #expect(try file.integers("PRAGMA freelist_count")[0][0] > 1024)
    }

    @Test func givesPagesBackToTheFileSystem() throws {
        let fixture = try InboxFixture()
        var inbox = try fixture.open { $0.keepsDoneBytes = 0 }
        try inbox.insert((0..<300).map { .sample($0, bytes: 50_000) })
        try inbox.transaction { transaction throws(InboxError) in
            for sequence in Int64(1)...300 {
                try transaction.update(MessageChange(sequence: sequence, state: .done), at: .at(1))
            }
        }
        _ = try self.prune(inbox, at: .at(2))
        // Closing writes the log into the file.
        inbox = try Inbox(path: ":memory:")
        #expect(try fixture.fileSize() < 6 << 20)
    }
}
