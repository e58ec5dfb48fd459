#if Postgres
import Foundation
import KiiPushEmulator
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct CommittingTests {
    private static let table = """
        CREATE SCHEMA app; CREATE TABLE app.seen (n bigint NOT NULL, note text);
        CREATE TABLE app.once (n bigint UNIQUE DEFERRABLE INITIALLY DEFERRED);
        CREATE FUNCTION app.violate_late() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
            SET CONSTRAINTS ALL DEFERRED; INSERT INTO app.once VALUES (1), (1); END $$;
        CREATE FUNCTION app.inform() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
            RAISE INFO 'soon'; RAISE WARNING 'now'; RETURN 1 / 0; END $$;
        """

    private func insert(_ number: Int64, _ note: String? = nil) -> SQLStatement {
        SQLStatement("INSERT INTO app.seen VALUES ($1, $2)", "\(number)", note)
    }

    private func run(
        messages count: Int64, isStrictlyOrdered: Bool = false, then check: (FleetStage) async throws -> Void,
        _ handle: @escaping @Sendable (Int64, DeliveryContext, FetchCompletion) -> Void
    ) async throws {
        try await FleetStage.run { stage async throws in
            _ = try await stage.sql(Self.table)
            try await stage.declare(1)
            let gateway = try stage.begin("gateway", isStrictlyOrdered: isStrictlyOrdered) {
                _, number, context, completion in
                handle(number, context, completion)
            }
            try await stage.waitForSubscriptions(of: 1)
            try await stage.send(1...count)
            try await stage.waitForVerdicts(Int(count))
            try await check(stage)
            try await gateway.end()
        }
    }

    @Test func isWrittenWithTheAnswer() async throws {
        try await self.run(messages: 20) { stage async throws in
            let rows = try await stage.sql("SELECT string_agg(n || coalesce(note, '-'), ' ' ORDER BY n) FROM app.seen")
            #expect(rows == (1...20).map { $0 == 3 ? "3-" : "\($0)it's" }.joined(separator: " ") + "\n")
        } _: { number, _, completion in
            #expect(completion(.newData, committing: self.insert(number, number == 3 ? nil : "it's")))
        }
    }

    /// Statements that make PostgreSQL refuse an answer whose last statement they are.
    private static let refused = [
        SQLStatement("INSERT INTO app.seen VALUES ($1)", "one"),
        SQLStatement("INSERT INTO app.missing VALUES (1)"),
        SQLStatement("INSERT INTO app.seen VALUES (NULL)"),
        SQLStatement("SELECT FROM"),
        SQLStatement("INSERT INTO app.once VALUES (1), (1)"),
        SQLStatement("SELECT pg_sleep(20)"),
        SQLStatement("INSERT INTO app.seen VALUES (1); COMMIT"),
        SQLStatement("SELECT app.violate_late()"),
        SQLStatement("SELECT app.inform()"),
        SQLStatement("COMMIT"),
        SQLStatement("SELECT 1\u{0}"),
    ]

    /// Two answers in one turn. The first violates a deferred constraint only after its statements; the second violates
    /// none.
    @Test func whatIsPutOffIsNotHeldAgainstOthers() async throws {
        try await withStorePlace(.postgres) { place in
            try await PostgresServer.run(Self.table, at: place.address)
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message, message)
            func answer(_ row: Int64, _ statement: SQLStatement) -> MessageChange {
                .change(row, of: key, .committing(.newData, AnswerWork(SQLWork([statement]))))
            }
            let outcome = try await store.change(
                answer(rows[0], SQLStatement("SELECT app.violate_late()")), answer(rows[1], self.insert(2)))
            #expect(outcome.refusals.keys.sorted() == [rows[0]])
            #expect(try await store.standing(rows[0]) == .inHand)
            #expect(try await store.standing(rows[1]) == .done)
        }
    }

    /// Other answers of the turn commit, and the refused attempt is repeated.
    @Test(arguments: refused.indices) func isNotWrittenWhereAStatementIsRefused(index: Int) async throws {
        try await self.run(messages: 9) { stage async throws in
            let rows = try await stage.sql("SELECT string_agg(n || note, ' ' ORDER BY n) FROM app.seen")
            #expect(rows == "11 21 31 41 52 61 71 81 91\n")
            let attempts = try await stage.sql(
                "SELECT string_agg(attempts::text, ' ' ORDER BY sequence) FROM kii_push.message")
            #expect(attempts == "0 0 0 0 2 0 0 0 0\n")
        } _: { number, context, completion in
            let insert = self.insert(number, "\(context.attempt)")
            if number == 5, context.attempt == 1 {
                completion(.newData, committing: insert, Self.refused[index])
            } else {
                completion(.newData, committing: insert)
            }
        }
    }

    /// The gateway must renew its lease between the turns.
    @Test func isSpreadOverTurnsWhereItTakesLong() async throws {
        try await self.run(messages: 9) { stage async throws in
            let rows = try await stage.sql("SELECT string_agg(n || note, ' ' ORDER BY n) FROM app.seen")
            #expect(rows == "11 21 31 41 51 61 71 81 91\n")
        } _: { number, context, completion in
            completion(
                .newData, committing: self.insert(number, "\(context.attempt)"), SQLStatement("SELECT pg_sleep(0.4)"))
        }
    }

    @Test func holdsBackWhatFollowsWhereOrderIsStrict() async throws {
        let handled = Locked<[Int64]>([])
        try await self.run(messages: 9, isStrictlyOrdered: true) { stage async throws in
            let rows = try await stage.sql("SELECT string_agg(n || note, ' ' ORDER BY ctid) FROM app.seen")
            #expect(rows == "11 21 31 41 52 61 71 81 91\n")
            #expect(handled.withLock { $0 } == [1, 2, 3, 4, 5, 5, 6, 7, 8, 9])
        } _: { number, context, completion in
            handled.withLock { $0.append(number) }
            let insert = self.insert(number, "\(context.attempt)")
            if number == 5, context.attempt == 1 {
                completion(.newData, committing: insert, SQLStatement("SELECT 1 / 0"))
            } else {
                completion(.newData, committing: insert)
            }
        }
    }

    @Test func isNotWrittenWithAFailure() async throws {
        try await self.run(messages: 1) { stage async throws in
            let rows = try await stage.sql("SELECT string_agg(note, ' ') FROM app.seen")
            #expect(rows == "2\n")
        } _: { number, context, completion in
            let insert = self.insert(number, "\(context.attempt)")
            completion(context.attempt == 1 ? .failed : .noData, committing: insert)
        }
    }

    /// For example, a person dropped the message, or another gateway handled it.
    @Test func isNotWrittenOfAMessageThatIsInOtherHands() async throws {
        let answers = Locked<[FetchCompletion]>([])
        try await FleetStage.run { stage async throws in
            _ = try await stage.sql(Self.table)
            try await stage.declare(1)
            let gateway = try stage.begin("gateway") { _, number, _, completion in
                if number == 1 {
                    answers.withLock { $0.append(completion) }
                } else {
                    completion(.newData, committing: self.insert(number))
                }
            }
            try await stage.waitForSubscriptions(of: 1)
            try await stage.send(1...1)
            try await stage.waitForMessages(1)
            _ = try await stage.sql("UPDATE kii_push.message SET state = 4")
            #expect(answers.withLock { $0.popLast() }?(.newData, committing: self.insert(1)) == true)
            try await stage.send(2...3)
            try await stage.waitForVerdicts(3)
            let rows = try await stage.sql("SELECT string_agg(n::text, ' ' ORDER BY n) FROM app.seen")
            #expect(rows == "2 3\n")
            try await gateway.end()
        }
    }

    /// `Examples/ExactlyOnce` counts each message once, even if its handler runs twice.
    @Test func aProgramThatIsKilledCountsEachMessageOnce() async throws {
        try await FleetStage.run { stage async throws in
            _ = try await stage.sql(
                "CREATE SCHEMA app; CREATE TABLE app.counter (agent text PRIMARY KEY, messages bigint NOT NULL)")
            try await stage.declare(3)
            let first = try stage.begin("first")
            try await stage.waitForSubscriptions(of: 3)
            try await first.end()
            let counted = "SELECT coalesce(sum(messages), 0) FROM app.counter"
            var sent: Int64 = 0
            for number in 1...3 {
                let program = try ChildProgram(
                    [productsDirectory.appending(path: "ExactlyOnce").path, "gateway-\(number)"],
                    environment: [
                        "KII_PUSH_STORE": stage.target, "KII_CA_FILE": stage.emulator.certificateAuthorityFile,
                        "XDG_STATE_HOME": "\(stage.directory)/state-\(number)",
                    ])
                let before = try #require(try await Int(stage.sql(counted).dropLast()))
                try await stage.send(sent + 1...sent + 40)
                sent += 40
                // The last program runs to the end. The first two are killed halfway.
                let wanted = number == 3 ? Int(sent) * 3 : before + 20
                while try await Int(stage.sql(counted).dropLast()) ?? 0 < wanted, program.isRunning {
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(program.isRunning)
                program.signal(SIGKILL)
                _ = try await onThread { program.wait() }
            }
            let rows = try await stage.sql(
                "SELECT string_agg(agent || ' ' || messages, ',' ORDER BY agent) FROM app.counter")
            #expect(rows == "agent-1 \(sent),agent-2 \(sent),agent-3 \(sent)\n")
        }
    }

    @Test func failsInARuntimeWithoutADatabase() async throws {
        let failed = Locked<[MessageEvent.Kind]>([])
        try await FleetStage.run { stage async throws in
            try await stage.declare(1)
            let runtime = try stage.emulator.runtime(stage.directory + "/alone", inbox: .memory)
            let agent = PushAgent(
                runtime: runtime, configuration: stage.agent("alone"),
                handler: NumberHandler { number, context, completion in
                    if context.attempt == 1 {
                        completion(.newData, committing: self.insert(number))
                    } else {
                        completion(.newData)
                    }
                })
            let events = agent.events
            let running = Task { try await agent.run() }
            var (isSubscribed, isConnected, isSent) = (false, false, false)
            for await event in events {
                if case .subscribed = event { isSubscribed = true }
                if case .connected = event { isConnected = true }
                // Before the first connection the broker has no session that would keep the message.
                if isSubscribed, isConnected, !isSent {
                    isSent = true
                    try await stage.send(1...1)
                }
                guard case .message(let message) = event else { continue }
                failed.withLock { $0.append(message.kind) }
                if case .done = message.kind { break }
            }
            running.cancel()
            try await running.value
            await runtime.shutdown()
        }
        let kinds = failed.withLock { $0 }
        #expect(kinds.contains { if case .failed(attempt: 1, .threw, _) = $0 { true } else { false } })
    }
}
#endif
