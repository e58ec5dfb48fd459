#if Postgres
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct PostgresStoreTests {
    /// The link learns a row's number only after the commit, and its connection may end before.
    @Test func aDoubtCoversTheRowsOfTheTurnUnderWay() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let outcome: TurnOutcome = try await store.ask { store, completion in
                store.commit(Turn(arrivals: [message.arrival]), completion: completion)
                store.doubt(installation: key, through: 0)
            }
            #expect(outcome.arrivals.count == 1)
            #expect(try await store.unproven(key) == [])
            try await store.commit { Turn() }
            #expect(try await store.unproven(key) == [])
        }
    }

    /// The gateway may lose a shard while a turn is under way.
    @Test func aTurnThatFailsKeepsNoProofOfAForgottenInstallation() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let keys = [try await store.installation("a"), try await store.installation("b")]
            let message = TestMessage(TestLink(installation: keys[0]))
            try await PostgresServer.run("ALTER TABLE kii_push.message RENAME TO messages", at: place.address)
            let error = await #expect(throws: InboxError.self) {
                let _: TurnOutcome = try await store.ask { store, completion in
                    for key in keys { store.doubt(installation: key, through: 0) }
                    store.commit(Turn(arrivals: [message.arrival]), completion: completion)
                    (store as? PostgresStore)?.forget([keys[0]])
                }
            }
            #expect(error?.sqlState == "42P01")
            let kept: [Int64?] = try await store.read { store in
                keys.map { (store as? PostgresStore)?.unprovenAfter($0) }
            }
            #expect(kept == [nil, 0])
        }
    }

    /// The connection breaks at random moments. The reported outcomes must equal the contents of the tables.
    @Test func aTurnWithoutAnAnswerIsNeitherLostNorWrittenTwice() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let link = TestLink(installation: key)
            let isOver = Locked(false)
            async let cuts: Int = {
                var cuts = 0
                while !isOver.withLock({ $0 }) {
                    let ended = try await PostgresServer.run(
                        """
                        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """, at: place.address)
                    cuts += ended.hasPrefix("0") ? 0 : 1
                }
                return cuts
            }()
            var stored: [Int64] = []
            var claimed: [Int64] = []
            for number in 0..<60 {
                let payload = [UInt8](
                    #"{"topic":"a","objectScopeType":"APP","objectScopeAppID":"x","n":\#(number)}"#.utf8)
                // Repeats the turn until it is written, as the pipeline does.
                while true {
                    do throws(InboxError) {
                        let outcome = try await store.tryCommit {
                            let message = TestMessage(link).with { message in
                                message.payload = payload
                                message.isInHand = number % 2 == 0
                            }
                            let claim = StoreClaim(
                                installation: key, kind: .source(TestMessage.source(), before: nil), limit: 5)
                            return Turn(arrivals: [message.arrival], claims: [claim])
                        }
                        for case .new(let sequence) in outcome.arrivals { stored.append(sequence) }
                        claimed += outcome.answers.flatMap(\.messages).map(\.sequence)
                        break
                    } catch {
                        #expect(error.kind == .away, "\(error)")
                    }
                }
            }
            isOver.withLock { $0 = true }
            #expect(try await cuts > 0)
            let rows = try await PostgresServer.run(
                "SELECT sequence FROM kii_push.message ORDER BY sequence", at: place.address)
            #expect(rows.split(separator: "\n").compactMap { Int64($0) } == stored)
            #expect(stored.count == 60)
            // No row was claimed twice. Claims whose answer was lost wait again.
            #expect(Set(claimed).count == claimed.count)
            let waiting = try await PostgresServer.run(
                """
                SELECT count(*) FROM kii_push.message
                WHERE state = 0 AND sequence NOT IN (SELECT unnest(in_hand) FROM kii_push.installation)
                """, at: place.address)
            let left = try await store.patientAnswer(.source(TestMessage.source(), before: nil), of: key)
            #expect(waiting.hasPrefix("\(left.messages.count)\n"))
            #expect(claimed.count + left.messages.count == 30)
            let ledger = try await store.ledger()
            #expect(ledger.received == 60)
            #expect(ledger.isBalanced)
        }
    }

    /// No message is handled twice, because the process survives the crash.
    @Test func aServerThatCrashesLosesNothing() async throws {
        let server = try await PostgresServer([])
        let target = try await server.makeDatabase()
        try await onThread { try PostgresSchema.make(target) }
        let handled = Journal<Int64>()
        let process = try await PipelineStoreTests.StoreProcess(
            StorePlace(kind: .postgres, address: target),
            ClosureHandler { _, context, completion in
                handled.add(context.messageID)
                completion(.newData)
            })
        let link = TestLink(installation: process.installation)
        for round in 0..<3 as Range<UInt64> {
            for ticket in 1...40 as ClosedRange<UInt64> { process.receive(on: link, ticket: round * 40 + ticket) }
            try await server.crash()
        }
        #expect(await link.acknowledged.first(120).count == 120)
        try await PostgresServer.wait(
            until: "(SELECT count(*) FROM kii_push.message WHERE state = 4) = 120", at: target)
        process.end()
        #expect(handled.entries.count == 120)
        let rows = try await PostgresServer.run(
            "SELECT count(*), count(DISTINCT sequence), min(state), max(state) FROM kii_push.message", at: target)
        #expect(rows == "120|120|4|4\n")
    }

    /// A write after the refused turn was committed, and the connection breaks before the answers are read.
    @Test func aTurnThatWasRefusedIsNoneWhateverFollowedIt() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let message = TestMessage(TestLink(installation: try await store.installation("a")))
            try await PostgresServer.run(
                """
                CREATE FUNCTION kii_push.refuse() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON kii_push.message
                    FOR EACH ROW EXECUTE FUNCTION kii_push.refuse()
                """, at: place.address)
            let isCommitted = DispatchSemaphore(value: 0)
            async let outcome: TurnOutcome = store.ask { store, completion in
                store.commit(Turn(arrivals: [message.arrival]), completion: completion)
                store.installation(id: "b", of: nil, agent: "agent") { _ in }
                // The loop reads no answer meanwhile.
                isCommitted.wait()
                (store as? PostgresStore)?.connection?.abandon()
            }
            let added = "EXISTS (SELECT FROM kii_push.installation WHERE id = 'b')"
            try await PostgresServer.wait(until: added, at: place.address)
            isCommitted.signal()
            do {
                _ = try await outcome
                Issue.record("it is told as written")
            } catch let error as InboxError {
                #expect(error.kind == .away)
            }
        }
    }

    /// An administrator cancels the wait for a standby. The turn must be reported only after a standby has the commit.
    @Test func whatNoStandbyHasIsNotTold() async throws {
        let server = try await PostgresServer()
        let target = try await server.makeDatabase()
        try await onThread { try PostgresSchema.make(target) }
        let store = try await StorePlace(kind: .postgres, address: target).open()
        let message = TestMessage(TestLink(installation: try await store.installation("a")))
        func setStandby(_ name: String) async throws {
            try await server.run("ALTER SYSTEM SET synchronous_standby_names = '\(name)'", in: "postgres")
            try await server.run("SELECT pg_reload_conf()", in: "postgres")
        }
        try await setStandby("elsewhere")
        let told = Locked<[Int64]>([])
        let isOver = Locked(false)
        // The server applies the setting some time after the reload. Earlier turns wait for no standby.
        let turns = Task {
            while !isOver.withLock({ $0 }) {
                let rows = try await store.receive(message)
                told.withLock { $0 += rows }
            }
        }
        defer { isOver.withLock { $0 = true } }
        let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = 'test1'"
        func waitForOne(_ what: String) async throws {
            let condition = "(SELECT count(DISTINCT pid) \(what)) = 1"
            try await PostgresServer.wait(until: condition, at: server.target("postgres"))
        }
        try await waitForOne(waiting)
        let before = told.withLock { $0 }
        let first = try await server.run("SELECT pg_cancel_backend(pid), pid \(waiting)", in: "postgres")
        let pid = first.split(separator: "|").last ?? ""
        // The next connection also waits for a standby.
        try await waitForOne("\(waiting) AND pid <> \(pid)")
        #expect(told.withLock { $0 } == before)
        isOver.withLock { $0 = true }
        try await setStandby("")
        try await turns.value
        let stored = try await server.run("SELECT sequence FROM kii_push.message ORDER BY sequence", in: "test1")
        #expect(stored.split(separator: "\n").compactMap { Int64($0) } == told.withLock { $0 })
        #expect(told.withLock { $0.count } == before.count + 1)
    }

    /// The connection broke after it had sent a turn. The server has not started this turn when the store asks for its
    /// outcome.
    @Test func whatComesToTheServerLateIsRefused() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let message = TestMessage(TestLink(installation: try await store.installation("a")))
            let found = try await PostgresServer.run(
                """
                SELECT pid FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'kii-push %'
                """, at: place.address)
            let backend = try #require(Int32(found.split(separator: "\n").first ?? ""))
            kill(backend, SIGSTOP)
            let turn = Task { try await store.receive(message) }
            // The turn was sent before the connection breaks.
            while try await store.read({ ($0 as? PostgresStore)?.connection?.isIdle ?? false }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            try await store.read { ($0 as? PostgresStore)?.connection?.abandon() }
            let error = await #expect(throws: InboxError.self) { try await turn.value }
            #expect(error?.kind == .away)
            kill(backend, SIGCONT)
            var rows: [Int64] = []
            while rows.isEmpty {
                rows = (try? await store.receive(message)) ?? []
                try await Task.sleep(for: .milliseconds(10))
            }
            // The server has processed everything that the broken connection sent.
            let hasEnded = "NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = \(backend))"
            try await PostgresServer.wait(until: hasEnded, at: place.address)
            let stored = try await PostgresServer.run("SELECT sequence FROM kii_push.message", at: place.address)
            #expect(stored == "\(rows[0])\n")
        }
    }

    /// A late verdict for a message of a lost shard is ignored. A message for a lost shard fails, which ends the
    /// process.
    @Test func nothingIsWrittenForAShardThatIsGone() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message)
            try await PostgresServer.run("UPDATE kii_push.shard SET gateway = NULL", at: place.address)
            try await store.change(.change(rows[0], of: key, .done(.newData)))
            let state = try await PostgresServer.run("SELECT state FROM kii_push.message", at: place.address)
            #expect(state == "1\n")
            for _ in 0..<2 {
                let error = await #expect(throws: InboxError.self) { try await store.receive(message) }
                #expect(error?.kind == .fenced)
            }
        }
    }

    @Test func whoLostItsNameWritesNothing() async throws {
        try await withStorePlace(.postgres) { place in
            let first = try await place.open()
            let key = try await first.installation("a")
            let message = TestMessage(TestLink(installation: key))
            try await first.receive(message)
            let second = try await place.open()
            let writes: [() async throws -> Any] = [
                { try await first.receive(message) },
                { try await first.change(.change(1, of: key, .setAside)) },
            ]
            for body in writes {
                let error = await #expect(throws: InboxError.self) { _ = try await body() }
                #expect(error?.kind == .fenced)
            }
            let error = await #expect(throws: InboxError.self) { try await first.ask { $0.drop(1, completion: $1) } }
            #expect(error?.kind == .fenced)
            #expect(try await second.answer(.suspects(after: 0), of: key).messages.count == 1)
            #expect(try await second.receive(message).count == 1)
            try await first.read { ($0 as? PostgresStore)?.connection?.abandon() }
            var kind: InboxError.Kind?
            while kind != .fenced {
                do { try await first.receive(message) } catch let error as InboxError { kind = error.kind }
            }
            let other = try await PostgresServer.run("SELECT state FROM kii_push.message", at: place.address)
            #expect(other == "1\n1\n")
        }
    }

    /// A commit that fails at its very end writes nothing, and later turns succeed.
    @Test func aCommitThatFailsIsToldAsThat() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let message = TestMessage(TestLink(installation: try await store.installation("a")))
            try await PostgresServer.run(
                """
                CREATE FUNCTION kii_push.refuse() RETURNS trigger LANGUAGE plpgsql
                    AS $$ BEGIN RAISE EXCEPTION 'late' USING ERRCODE = '53100'; END $$;
                CREATE CONSTRAINT TRIGGER late AFTER INSERT ON kii_push.message DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION kii_push.refuse()
                """, at: place.address)
            let error = await #expect(throws: InboxError.self) { try await store.receive(message) }
            #expect(error?.kind == .full)
            #expect(try await store.ledger() == MessageLedger())
            try await PostgresServer.run("DROP TRIGGER late ON kii_push.message", at: place.address)
            #expect(try await store.receive(message).count == 1)
            let count = try await PostgresServer.run("SELECT count(*) FROM kii_push.message", at: place.address)
            #expect(count == "1\n")
        }
    }

    /// For example, the database is a standby, or the role lacks rights.
    @Test func whatMayNotBeWrittenFails() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let message = TestMessage(TestLink(installation: try await store.installation("a")))
            try await PostgresServer.run("ALTER TABLE kii_push.message RENAME TO messages", at: place.address)
            let broken = await #expect(throws: InboxError.self) { try await store.receive(message) }
            #expect(broken?.sqlState == "42P01")
            try await PostgresServer.run("ALTER TABLE kii_push.messages RENAME TO message", at: place.address)
            #expect(try await store.receive(message).count == 1)
            try await PostgresServer.run(
                """
                CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA kii_push TO reader;
                GRANT SELECT ON ALL TABLES IN SCHEMA kii_push TO reader
                """, at: place.address)
            let reader = StorePlace(
                kind: .postgres,
                address: place.address.split(separator: " ").map {
                    $0 == "user=kii" ? "user=reader" : String($0)
                }.joined(separator: " "))
            let refused = await #expect(throws: InboxError.self) { _ = try await reader.open() }
            #expect(refused?.kind == .notPermitted)
        }
    }

    /// Senders can make any number of them.
    @Test func refusedMessagesAreHalfOfTheDeadLettersAtMost() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open(keepsDead: 10)
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let kept = try await store.receive(message)
            try await store.change(.change(kept[0], of: key, .dead(.attemptsFailed(.failed))))
            var removed = 0
            for _ in 0..<20 {
                removed += try await store.commit {
                    Turn(arrivals: [message.with { $0.payload = [1] }.arrival])
                }.removedDeadLetters
            }
            removed += try await store.commit { Turn() }.removedDeadLetters
            let ledger = try await store.ledger()
            #expect(ledger.dead == 6)
            #expect(ledger.expired == Int64(removed))
            #expect(ledger.isBalanced)
            #expect(try await store.standing(kept[0]) == .dead)
        }
    }
}

extension TestStore {
    fileprivate func tryCommit(_ make: @escaping @Sendable () -> Turn) async throws(InboxError) -> TurnOutcome {
        do {
            return try await self.commit(make)
        } catch let error as InboxError {
            throw error
        } catch {
            throw InboxError(.other, step: "testing: \(error)")
        }
    }

    /// Repeats the claim while the store reconnects.
    fileprivate func patientAnswer(_ kind: StoreClaim.Kind, of installation: Int64) async throws -> StoreAnswer {
        while true {
            do { return try await self.answer(kind, of: installation) } catch let error as InboxError
                where error.kind == .away
            {}
        }
    }
}
#endif
