#if Postgres
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct PostgresRaceTests {
    /// Another gateway changes the row a moment earlier.
    @Test func whatAnotherAgentHasTakenOverIsNotTakenOverOnceMore() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let owner = InboxOwner(site: "s", app: "a", principal: "user:1")
            _ = try await store.installation("former", of: owner, agent: "gone")
            let key = try await store.installation("mine", of: owner, agent: "agent")
            try await PostgresServer.run(
                "INSERT INTO kii_push.agent (name, shard, declaration) VALUES ('other', 1, '{}')", at: place.address)
            try await self.whileChanging("installation SET agent = 'other' WHERE id = 'former'", at: place.address) {
                let adoptions: [Adoption] = try await store.ask {
                    $0.takeOver(key, besides: { _ in false }, completion: $1)
                }
                #expect(adoptions.map(\.id) == [])
            }
            try await PostgresServer.run(
                "UPDATE kii_push.installation SET agent = 'gone' WHERE id = 'former'", at: place.address)
            try await self.whileChanging("installation SET agent = 'other' WHERE id = 'former'", at: place.address) {
                let adoption: Adoption? = try await store.ask { $0.adopt("former", by: "mine", completion: $1) }
                #expect(adoption == nil)
            }
            let agent = "SELECT agent FROM kii_push.installation WHERE id = 'former'"
            #expect(try await PostgresServer.run(agent, at: place.address) == "other\n")
        }
    }

    @Test func whatIsTriedAgainMeanwhileIsNotRemoved() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open(keepsDead: 2)
            let message = TestMessage(TestLink(installation: try await store.installation("a")))
            let refused = message.with { $0.payload = [1] }
            try await store.commit { Turn(arrivals: [refused.arrival, refused.arrival]) }
            let first = "(SELECT min(sequence) FROM kii_push.message)"
            try await self.whileChanging("message SET state = 0 WHERE sequence = \(first)", at: place.address) {
                try await store.commit { Turn() }
            }
            let states = "SELECT state FROM kii_push.message ORDER BY sequence"
            #expect(try await PostgresServer.run(states, at: place.address) == "0\n5\n")
        }
    }

    /// Changes a row in a transaction that commits as soon as `body` waits for the row's lock.
    private func whileChanging(_ change: String, at target: String, _ body: () async throws -> Void) async throws {
        let table = change.split(separator: " ")[0]
        let condition = change[(change.range(of: "WHERE")?.lowerBound ?? change.endIndex)...]
        async let changing = PostgresServer.run(
            """
            DO $$ BEGIN
                UPDATE kii_push.\(change);
                WHILE NOT EXISTS (
                    SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid)
                LOOP PERFORM pg_sleep(0.01); END LOOP;
            END $$
            """, at: target)
        let free = "SELECT count(*) FROM (SELECT FROM kii_push.\(table) \(condition) FOR UPDATE SKIP LOCKED) AS free"
        try await PostgresServer.wait(until: "(\(free)) = 0", at: target)
        try await body()
        _ = try await changing
    }
}
#endif
