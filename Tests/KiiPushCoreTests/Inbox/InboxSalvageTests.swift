import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxSalvageTests {
    private static let now = Timestamp.at(5_000_000)

    /// Stores 300 rows in all states. Each payload contains the row's name.
    func fill(_ fixture: InboxFixture) throws -> (unfinished: [StoredMessage], ledger: MessageLedger) {
        let inbox = try fixture.open()
        let key = try inbox.transaction { transaction throws(InboxError) in
            try transaction.installation(id: "installation-1")
        }
        try inbox.insert(
            (1...300).map { number in
                var row = StoredMessage.sample(installation: key, packetID: UInt16(number))
                row.payload = Self.payload(number)
                return row
            })
        try inbox.transaction { transaction throws(InboxError) in
            for number in Int64(1)...300 {
                let state = RowState(rawValue: number % 6) ?? .done
                try transaction.update(
                    MessageChange(
                        sequence: number, state: state, attempts: Int(number % 4), crashes: Int(number % 2),
                        pause: .seconds(number - 3000), failure: .timedOut),
                    at: .at(3000))
            }
            try transaction.markProven(installation: key, through: 200)
        }
        let unfinished = try RowState.allCases.filter { $0 != .done }.flatMap { try inbox.rows($0, limit: 1000) }
        return (unfinished.sorted { $0.sequence < $1.sequence }, inbox.messageLedger)
    }

    static func payload(_ number: Int) -> [UInt8] {
        Array("row-\(number + 100_000)".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 490)
    }

    static var damage: Inbox.Damage { Inbox.Damage(reason: "damage", foundAt: self.now) }

    func replace(_ fixture: InboxFixture, _ damage: Inbox.Damage = Self.damage) throws -> Inbox {
        try Inbox.replaceDamaged(fixture.path, configuration: .init(), damage)
    }

    /// Damage that a process finds which has the file open.
    func remembered(_ fixture: InboxFixture, _ installations: [Int64: String]) throws -> Inbox.Damage {
        var damage = Self.damage
        damage.remember(try fixture.open(), installations: installations)
        return damage
    }

    func unfinished(_ inbox: Inbox) throws -> [StoredMessage] {
        try RowState.allCases.filter { $0 != .done }.flatMap { try inbox.rows($0, limit: 1000) }
            .sorted { $0.sequence < $1.sequence }
    }

    /// - Parameter count: the number of bytes to overwrite at the beginning: SQLite's header, or the whole page with
    ///   the places of the tables.
    @Test(arguments: [100, InboxFixture.pageSize])
    func takesOverEverythingWhenTheFirstPageIsDamaged(count: Int) throws {
        let fixture = try InboxFixture()
        let (before, ledger) = try self.fill(fixture)
        try fixture.change { bytes in
            bytes.replaceSubrange(..<count, with: [UInt8](repeating: 0xA5, count: count))
        }
        #expect(throws: InboxError.self) { _ = try fixture.open() }
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == before.count)
        #expect(replacement.lost == 0)
        #expect(try self.unfinished(replacement) == before)
        #expect(replacement.messageLedger.received == ledger.received)
        #expect(try fixture.names().filter { $0.contains("partial") } == [])
    }

    @Test func takesOverWhatHappenedAsFarAsItCanBeRead() throws {
        let fixture = try InboxFixture()
        _ = try self.fill(fixture)
        let before = try {
            let inbox = try fixture.open()
            try inbox.transaction { transaction throws(InboxError) in
                for second in 0..<300 { try transaction.absorb(into: 1, at: .at(3001 + Int64(second))) }
                for sequence in [13, 19, 7] as [Int64] {
                    for second in 1...3 { try transaction.absorb(into: sequence, at: .at(3000 + Int64(second))) }
                }
            }
            return try [1, 13].map { try inbox.record($0) }
        }()
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            DELETE FROM event WHERE message = 19 AND number = 2;
            UPDATE event SET at_ms = 'noon' WHERE message = 7 AND number = 1;
            UPDATE event SET attempt = 'x', started_ms = x'01', pause_ms = 0.5, detail = x'FF'
            WHERE message = 7 AND number = 3;
            """)
        try fixture.change { bytes in
            bytes.replaceSubrange(..<100, with: [UInt8](repeating: 0xA5, count: 100))
        }
        let inbox = try self.replace(fixture)
        #expect(try [1, 13].map { try inbox.record($0) } == before)
        for sequence in [19, 7] as [Int64] {
            let record = try #require(try inbox.record(sequence))
            #expect(record.events.map(\.kind) == [.received, .duplicate, .duplicate])
            #expect(record.missing.contains(.laterEvents))
        }
        try inbox.verify()
        // New events follow the last readable one.
        _ = try inbox.transaction { transaction throws(InboxError) in try transaction.absorb(into: 13, at: .at(4000)) }
        #expect(try inbox.record(13)?.events.count == 5)
    }

    @Test func takesOverWhatCanBeReadUnderItsOwnNumbers() throws {
        let fixture = try InboxFixture()
        let (before, ledger) = try self.fill(fixture)
        try fixture.damage(pageWith: "row-100150")
        #expect(throws: InboxError.self) { _ = try self.unfinished(fixture.open()) }
        let damaged = try Data(contentsOf: URL(filePath: fixture.path))
        let replacement = try self.replace(fixture)
        let lost = try #require(replacement.lost)
        #expect((1...10).contains(lost))
        #expect(replacement.takenOver == before.count - lost)
        let after = try self.unfinished(replacement)
        let byNumber = Dictionary(uniqueKeysWithValues: before.map { ($0.sequence, $0) })
        #expect(after.count == replacement.takenOver)
        for row in after { #expect(row == byNumber[row.sequence]) }
        #expect(try replacement.row(150) == nil)
        #expect(try replacement.rows(.done, limit: 1) == [])
        // The counts stay. Unreadable messages count as lost.
        let now = replacement.messageLedger
        #expect(now.isBalanced)
        #expect(now.received == ledger.received)
        #expect(now.done == ledger.done)
        #expect(now.lost == Int64(lost) && now.expired == 0)
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
        #expect(try replacement.insert([.sample()]) == [301])
        #expect(try replacement.installation(id: "installation-1") == 1)
        #expect(try replacement.unproven(installation: 1).first?.sequence ?? 0 > 200)
        #expect(replacement.keptPath == fixture.path + ".damaged-5000000000")
        #expect(try Data(contentsOf: URL(filePath: replacement.keptPath)) == damaged)
        #expect(try fixture.mode(of: fixture.path) == 0o600)
        let names = try fixture.names()
        #expect(!names.contains { $0.contains(".partial") || $0.contains(".new") }, "\(names)")
    }

    @Test func whatIsStillInTheLogIsTakenOverToo() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        // A copy of the file and its log, as a killed process leaves them.
        let inbox = try fixture.open()
        try inbox.insert([.sample(7), .sample(8)])
        let killed = try InboxFixture()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: killed.path + suffix)
        }
        withExtendedLifetime(inbox) {}
        try killed.damage(pageWith: "row-100290")
        let replacement = try self.replace(killed)
        #expect(replacement.takenOver == before.count + 2 - (replacement.lost ?? 1000))
        #expect(try replacement.row(302)?.payload == StoredMessage.sample(8).payload)
        #expect(try killed.names().contains("inbox.db.damaged-5000000000-wal"))
    }

    @Test func withoutTheLedgerNumbersGoOnFarAboveTheOldOnes() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        try fixture.damage(page: fixture.rootPage(of: "ledger"))
        #expect(#expect(throws: InboxError.self) { try fixture.open() }?.kind == .corrupt)
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == before.count)
        #expect(replacement.lost == 0)
        #expect(try self.unfinished(replacement) == before)
        #expect(replacement.messageLedger.isBalanced)
        let next = try #require(try replacement.insert([.sample()]).first)
        #expect(next == 5_000_000_000_001)
    }

    @Test func withoutIndexesTheNumbersAreSearched() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        for index in ["message_open", "message_dead", "message_retry"] {
            try fixture.damage(page: fixture.rootPage(of: index))
        }
        for row in ["row-100002", "row-100150", "row-100170", "row-100299"] { try fixture.damage(pageWith: row) }
        let replacement = try self.replace(fixture)
        let lost = try #require(replacement.lost)
        #expect((4...40).contains(lost))
        #expect(replacement.takenOver == before.count - lost)
        let taken = try self.unfinished(replacement)
        #expect(Set(taken.map(\.sequence)).isSubset(of: before.map(\.sequence)))
        #expect(taken.contains { $0.sequence < 140 } && taken.contains { (160...164).contains($0.sequence) })
        #expect(taken.contains { (180...289).contains($0.sequence) })
    }

    @Test func aRowWithOddValuesIsMadeUpForAndHoldsUpNoOther() throws {
        let fixture = try InboxFixture()
        let (before, ledger) = try self.fill(fixture)
        // A damaged page can hold values that SQL would refuse.
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'message';
            """)
        try SQLiteFile(fixture.path, for: .changing).execute(
            """
            UPDATE message SET attempts = NULL, crashes = 'x' WHERE sequence = 7;
            UPDATE message SET next_attempt_ms = NULL, updated_ms = NULL WHERE sequence = 8;
            UPDATE message SET received_ms = NULL, qos = NULL, duplicate = NULL, retain = NULL, connection = NULL
                WHERE sequence = 9;
            UPDATE message SET state = NULL WHERE sequence = 12;
            UPDATE message SET installation = NULL WHERE sequence = 13;
            UPDATE message SET topic = NULL WHERE sequence = 14;
            UPDATE message SET state = 77 WHERE sequence = 18;
            UPDATE message SET bytes = NULL, packet_id = 1.5, reason = x'00' WHERE sequence = 19;
            """)
        let replacement = try self.replace(fixture)
        #expect(replacement.lost == 1)
        #expect(replacement.takenOver == before.count - 1)
        let odd: Set<Int64> = [7, 8, 9, 12, 13, 14, 18, 19]
        #expect(
            try self.unfinished(replacement).filter { !odd.contains($0.sequence) }
                == before.filter { !odd.contains($0.sequence) })
        let row = { (sequence: Int64) throws in try #require(try replacement.row(sequence)) }
        #expect(try row(7).attempts == 0 && row(7).crashes == 0 && row(7).state == .inHand)
        // Without a due time, the retry would never run.
        #expect(try row(8).nextAttempt == .at(0) && row(8).updatedAt == row(8).receivedAt)
        #expect(try row(9).receivedAt == .at(3000) && row(9).connection == 0)
        for sequence in [12, 13, 18] as [Int64] {
            #expect(try row(sequence).state == .dead)
            #expect(try row(sequence).reason?.hasPrefix("damaged inbox: wh") == true)
            #expect(try row(sequence).payload == Self.payload(Int(sequence)))
        }
        #expect(try replacement.row(14) == nil)
        #expect(try row(19).packetID == nil && row(19).reason == nil)
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
        #expect(replacement.messageLedger.received == ledger.received)
        #expect(replacement.messageLedger.isBalanced)
    }

    @Test func aNumberThatNoMessageCanHaveHoldsUpNoOther() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        try SQLiteFile(fixture.path, for: .changing).execute(
            "UPDATE message SET sequence = 1 << 57 WHERE sequence = 300")
        let replacement = try self.replace(fixture)
        #expect(try self.unfinished(replacement) == before.filter { $0.sequence < 300 })
    }

    /// After damage the inbox tries each number in turn. It must stop at the highest possible number.
    @Test func theLastNumberThereIsHoldsUpNoOther() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        let last = try #require(before.last)
        try SQLiteFile(fixture.path, for: .changing)
            .execute("UPDATE message SET sequence = \(Int64.max) WHERE sequence = \(last.sequence)")
        try fixture.damage(pageWith: "row-\(last.sequence + 100_000)")
        let replacement = try self.replace(fixture)
        let lost = try #require(replacement.lost)
        #expect((1...10).contains(lost))
        #expect(replacement.takenOver >= before.count - 10)
    }

    @Test func aPageThatIsLinkedTwiceIsTakenOverOnce() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        // An interior page (SQLite's file format, section 1.6): each cell begins with the number of its child page.
        let start = try (fixture.rootPage(of: "message") - 1) * InboxFixture.pageSize
        try fixture.change { bytes in
            #expect(bytes[start] == 5)
            func cell(_ index: Int) -> Int {
                let pointer = start + 12 + 2 * index
                return start + Int(bytes[pointer]) << 8 + Int(bytes[pointer + 1])
            }
            for byte in 0..<4 { bytes[cell(10) + byte] = bytes[cell(9) + byte] }
        }
        let replacement = try self.replace(fixture)
        let lost = try #require(replacement.lost)
        #expect((1...10).contains(lost))
        #expect(replacement.takenOver == before.count - lost)
        let numbers = try self.unfinished(replacement).map(\.sequence)
        #expect(Set(numbers).isSubset(of: before.map(\.sequence)) && numbers.last == before.last?.sequence)
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
    }

    @Test func whatTheProcessRemembersIsUsed() throws {
        let fixture = try InboxFixture()
        let (before, ledger) = try self.fill(fixture)
        let remembered = try self.remembered(fixture, [1: "installation-1"])
        for name in ["installation", "sqlite_autoindex_installation_1", "ledger"] {
            try fixture.damage(page: fixture.rootPage(of: name))
        }
        let replacement = try self.replace(fixture, remembered)
        #expect(try self.unfinished(replacement) == before)
        #expect(replacement.messageLedger == ledger)
        #expect(try replacement.insert([.sample(installation: 1)]) == [301])
    }

    @Test(arguments: [
        [UInt8]("this is no database, but long enough to be looked at as one of its kind\n".utf8),
        [UInt8]("SQLite format 3\0".utf8) + [UInt8](repeating: 0xFF, count: 5000),
    ])
    func aFileThatIsNoDatabaseHasNothingToGive(bytes: [UInt8]) throws {
        let fixture = try InboxFixture()
        try Data(bytes).write(to: URL(filePath: fixture.path))
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == 0)
        #expect(replacement.lost == nil)
        #expect(try Data(contentsOf: URL(filePath: replacement.keptPath)) == Data(bytes))
        #expect(try #require(try replacement.insert([.sample()]).first) > 5_000_000_000_000)
    }

    @Test func aReplacementThatWasInterruptedIsFinishedByTheNextToOpen() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        // The state after a process ended between two renames: the damaged file is moved aside, but its log is not.
        try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.path + ".new")
        try Data("the log of another file".utf8).write(to: URL(filePath: fixture.path + "-wal"))
        #expect(try self.unfinished(fixture.open()) == before)
        let names = try fixture.names()
        #expect(!names.contains("inbox.db.new"))
        #expect(names.contains { $0.hasPrefix("inbox.db.damaged-") && $0.hasSuffix("-wal") })
    }

    @Test func aReplacementThatFailedHalfwayGoesOnWhereItWas() throws {
        let fixture = try InboxFixture()
        let (before, ledger) = try self.fill(fixture)
        let remembered = try self.remembered(fixture, [1: "installation-1"])
        try fixture.damage(pageWith: "row-100150")
        let damaged = try Data(contentsOf: URL(filePath: fixture.path))
        let (first, numbers) = try {
            let replacement = try self.replace(fixture, remembered)
            let numbers = try self.unfinished(replacement).map(\.sequence)
            return ((replacement.takenOver, replacement.lost, replacement.keptPath), numbers)
        }()
        // The state after a failed rename: the damaged file is moved aside, but the new file does not have its name.
        try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.path + ".new")
        for _ in 1...2 {
            // In the second round the new file has its name, but a previous process could not open it.
            let replacement = try self.replace(fixture, remembered)
            #expect((replacement.takenOver, replacement.lost, replacement.keptPath) == first)
            #expect(try self.unfinished(replacement).map(\.sequence) == numbers)
            #expect(replacement.messageLedger.received == ledger.received)
        }
        #expect(numbers.count > before.count - 10)
        #expect(try Data(contentsOf: URL(filePath: first.2)) == damaged)
        #expect(try fixture.names().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.count == 2)
    }

    @Test func aFileThatIsDamagedAgainIsReplacedAgain() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        try fixture.damage(pageWith: "row-100150")
        let (keptPath, takenOver) = try {
            let replacement = try self.replace(fixture)
            return (replacement.keptPath, replacement.takenOver)
        }()
        let first = try Data(contentsOf: URL(filePath: keptPath))
        try fixture.damage(page: fixture.rootPage(of: "ledger"))
        let replacement = try self.replace(fixture)
        #expect(replacement.takenOver == takenOver && takenOver > before.count - 10)
        #expect(replacement.keptPath != keptPath)
        #expect(try Data(contentsOf: URL(filePath: keptPath)) == first)
    }

    @Test func whatAnInterruptedReplacementLeftBesideTheFileIsNotUsed() throws {
        let fixture = try InboxFixture()
        let (before, _) = try self.fill(fixture)
        for name in [".new", ".partial"] {
            try Data("half a file".utf8).write(to: URL(filePath: fixture.path + name))
        }
        #expect(try self.unfinished(fixture.open()) == before)
        #expect(try !fixture.names().contains("inbox.db.new"))
        try fixture.damage(pageWith: "row-100150")
        #expect(try self.replace(fixture).takenOver > 200)
        #expect(try !fixture.names().contains("inbox.db.partial"))
    }
}

extension Inbox {
    var keptPath: String { self.notices.last?.path ?? "" }
    var takenOver: Int { self.notices.last?.takenOver ?? -1 }
    var lost: Int? { self.notices.last?.lost }
}
