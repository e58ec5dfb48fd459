#if Postgres
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

/// The upkeep of a turn: it removes old rows, and takes numbers for future messages.
@Suite struct PostgresUpkeepTests {
    @Test func oldRowsGoInTime() async throws {
        try await withStorePlace(.postgres) { place in
            let first = try await place.open()
            let key = try await first.installation("installation", agent: self.agentOfTheFirstPart(at: place.address))
            let message = TestMessage(TestLink(installation: key))
            let rows = try await first.receive(message, message)
            try await first.change(.change(rows[0], of: key, .done(.newData)))
            let milestones = "INSERT INTO kii_push.milestone VALUES (1, 1000000), (2, 1000000)"
            try await PostgresServer.run(milestones, at: place.address)
            let store = try await place.open(keepsDone: .zero)
            try await store.commit { Turn() }
            #expect(try await store.standing(rows[0]) == nil)
            #expect(try await store.standing(rows[1]) == .inHand)
            let ledger = try await store.ledger()
            #expect([ledger.done, ledger.running] == [1, 1])
            #expect(ledger.isBalanced)
        }
    }

    @Test func manyOldRowsGoInTurnsThatFollowAtOnce() async throws {
        try await withStorePlace(.postgres) { place in
            let first = try await place.open()
            let key = try await first.installation("installation", agent: self.agentOfTheFirstPart(at: place.address))
            try await PostgresServer.run(
                """
                INSERT INTO kii_push.milestone VALUES (1, 1000000), (2, 1000000);
                INSERT INTO kii_push.message (installation, sequence, state, bytes, updated_ms, received_ms, qos,
                    duplicate, retain, connection, topic, payload)
                SELECT \(key), number, 4, 64, 1, 1, 1, false, false, 1, 't', ''
                FROM generate_series(1, \(PostgresStatements.prunedAtOnce + 1)) AS number
                """, at: place.address)
            let store = try await place.open(keepsDone: .zero)
            #expect(try #require(await store.commit { Turn() }.upkeepDue) <= .zero)
            #expect(try #require(await store.commit { Turn() }.upkeepDue) > .zero)
            #expect(try await PostgresServer.run("SELECT count(*) FROM kii_push.message", at: place.address) == "0\n")
        }
    }

    @Test func aTurnTakesNumbersBeforeTheyRunOut() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let message = TestMessage(TestLink(installation: try await store.installation("a")))
            let before = try await store.read { store in
                guard let store = store as? PostgresStore else { return 0 }
                while !store.numbers.isLow { _ = store.numbers.next() }
                return store.numbers.left
            }
            try await store.receive(message)
            let after = try await store.read { ($0 as? PostgresStore)?.numbers.left }
            #expect(after == before - 1 + 65_536)
        }
    }

    /// An agent whose shard belongs to the part that a process prunes first.
    private func agentOfTheFirstPart(at address: String) async throws -> String {
        let name = try await PostgresServer.run(
            """
            SELECT id FROM (SELECT 'a' || number AS id FROM generate_series(1, 100) AS number) AS ids
            WHERE kii_push.shard_of(id) % \(PostgresStatements.pruningParts) = 0 LIMIT 1
            """, at: address)
        return String(name.dropLast())
    }
}
#endif
