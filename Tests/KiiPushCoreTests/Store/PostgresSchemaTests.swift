#if Postgres
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

/// The tables that a store finds.
@Suite struct PostgresSchemaTests {
    @Test func aDatabaseThatIsNotUsableSaysWhatToDo() async throws {
        let target = try await PostgresServer.database()
        func failure() async -> InboxError? {
            await #expect(throws: InboxError.self) {
                _ = try await StorePlace(kind: .postgres, address: target).open()
            }
        }
        #expect(await failure()?.kind == .noSchema)
        let latin = target.replacingOccurrences(of: "dbname=", with: "dbname=latin")
        try await PostgresServer.run(
            "CREATE DATABASE \(latin.split(separator: "=").last ?? "") ENCODING 'LATIN1' TEMPLATE template0", at: target
        )
        let encoding = await #expect(throws: InboxError.self) {
            try await onThread { try PostgresSchema.migrate(latin) }
        }
        #expect(encoding?.description.contains("UTF8") == true)
        try await onThread { try PostgresSchema.migrate(target) }
        // As often as one likes.
        try await onThread { try PostgresSchema.migrate(target) }
        try await PostgresServer.run("INSERT INTO kii_push.migration (version) VALUES (99)", at: target)
        #expect(await failure()?.kind == .newerVersion(99))
        let error = await #expect(throws: InboxError.self) { try await onThread { try PostgresSchema.migrate(target) } }
        #expect(error?.kind == .newerVersion(99))
        try await PostgresServer.run("TRUNCATE kii_push.migration", at: target)
        #expect(await failure()?.kind == .noSchema)
        let nowhere = StorePlace(kind: .postgres, address: "host=/nowhere user=kii password=secret-word dbname=x")
        let away = await #expect(throws: InboxError.self) { _ = try await nowhere.open() }
        #expect(away?.kind == .away)
        #expect(away?.description.contains("/nowhere") == true)
        #expect(away?.description.contains("secret-word") == false)
        let nonsense = StorePlace(kind: .postgres, address: "host=/nowhere password='secret-word")
        let unread = await #expect(throws: InboxError.self) { _ = try await nonsense.open() }
        #expect(unread?.description.contains("secret-word") == false)
    }

    /// What an older version has stored is there after the migration.
    @Test func aDatabaseOfAnOlderVersionIsBroughtUpToDate() async throws {
        let target = try await PostgresServer.database()
        try await PostgresServer.run(
            """
            CREATE SCHEMA kii_push;
            CREATE TABLE kii_push.migration (
                version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
            \(PostgresMigrations.all[0])
            INSERT INTO kii_push.migration (version) VALUES (1);
            INSERT INTO kii_push.installation (id, agent, shard)
                VALUES ('a', 'agent', kii_push.shard_of('agent'));
            INSERT INTO kii_push.message (installation, sequence, state, turn, bytes, updated_ms, received_ms, qos,
                    duplicate, retain, connection, topic, payload)
                SELECT key, 7, 1, 1, 2, 1, 1, 1, false, false, 1, 'topic', '{}' FROM kii_push.installation
            """, at: target)
        let place = StorePlace(kind: .postgres, address: target)
        let error = await #expect(throws: InboxError.self) { _ = try await place.open() }
        #expect(error?.kind == .olderVersion(1))
        try await onThread { try PostgresSchema.migrate(target) }
        let store = try await place.open()
        let found = try await store.answer(.suspects(after: 0), of: store.installation("a"))
        #expect(found.messages.map(\.sequence) == [7])
    }
}
#endif
