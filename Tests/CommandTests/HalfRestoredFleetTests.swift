#if Postgres
import TestSupport
import TestTraits
import Testing

/// The program itself at a database whose tables are there in part, as while a backup is being restored.
@Suite(.ownThreads) struct HalfRestoredFleetTests {
    private let tool: Tool

    init() throws { self.tool = try Tool() }

    /// - Parameters:
    ///   - lost: what is renamed, so that it is not there under its name.
    ///   - name: its name, without arguments.
    @Test(arguments: [
        ("TABLE kii_push.agent", "agent", ["fleet", "list"]),
        ("FUNCTION kii_push.dismiss_agent(text)", "dismiss_agent", ["fleet", "remove", "lamp-1"]),
        ("TABLE kii_push.migration", "migration", ["store", "check"]),
        ("TABLE kii_push.migration", "migration", ["store", "migrate"]),
        ("TABLE kii_push.migration", "migration", ["store", "init"]),
    ])
    func whoAsksIsToldToTryAgain(lost: String, name: String, words: [String]) async throws {
        let target = try await PostgresServer.database()
        #expect(try self.tool("store", "init", "--store", target).exit == 0)
        try await PostgresServer.run("ALTER \(lost) RENAME TO \(name)_away", at: target)
        let result = try self.tool.start(words + ["--store", target]).waitForExit()
        #expect(result.exit == 74, "\(result.error)")
        #expect(result.error.contains("as while a backup is being restored"), "\(result.error)")
        #expect(result.error.contains("'kii-push store check'"), "\(result.error)")
        #expect(!result.error.contains("defect"), "\(result.error)")
    }

    @Test func aGatewayWaitsForTheRest() async throws {
        let target = try await PostgresServer.database()
        #expect(try self.tool("store", "init", "--store", target).exit == 0)
        try await PostgresServer.run("ALTER TABLE kii_push.migration RENAME TO migration_away", at: target)
        let gateway = try self.tool.start(["run", "--gateway", "one", "--exec", "true", "--store", target])
        let told = "as while a backup is being restored"
        #expect(gateway.error(containing: told).contains(told))
        try await PostgresServer.run("ALTER TABLE kii_push.migration_away RENAME TO migration", at: target)
        #expect(gateway.error(containing: "1024 of 1024 shards").contains("1024 of 1024 shards"))
        gateway.stop()
    }
}
#endif
