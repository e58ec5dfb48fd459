#if Postgres
import TestSupport
import TestTraits
import Testing

/// The program beside a database with only part of its tables, as while a backup is being restored.
@Suite(.ownThreads) struct HalfRestoredFleetTests {
    private let tool: Tool

    init() throws { self.tool = try Tool("kii-push-gateway") }

    @Test(arguments: [
        ("ALTER TABLE kii_push.agent RENAME TO agent_away", ["fleet", "list"]),
        ("ALTER FUNCTION kii_push.dismiss_agent(text) RENAME TO away", ["fleet", "remove", "lamp-1"]),
        ("ALTER TABLE kii_push.migration RENAME TO migration_away", ["store", "check"]),
        ("ALTER TABLE kii_push.migration RENAME TO migration_away", ["store", "init"]),
        ("ALTER TABLE kii_push.shard DROP CONSTRAINT shard_gateway_fkey", ["store", "check"]),
        ("TRUNCATE kii_push.migration", ["run", "--gateway", "one", "--exec", "true"]),
    ])
    func whoAsksIsToldToTryAgain(lost: String, words: [String]) async throws {
        let target = try await PostgresServer.database()
        #expect(try self.tool("store", "init", "--store", target).exit == 0)
        try await PostgresServer.run(lost, at: target)
        let result = try self.tool.start(words + ["--store", target]).waitForExit()
        #expect(result.exit == 74, "\(result.error)")
        #expect(result.error.contains("as while a backup is being restored"), "\(result.error)")
        #expect(result.error.contains("'kii-push-gateway store check'"), "\(result.error)")
        #expect(!result.error.contains("defect"), "\(result.error)")
    }
}
#endif
