#if Postgres
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct SeveralDatabasesTests {
    @Test func oneThatIsAwayStopsItsOwnAgentsOnly() async throws {
        try await FleetStage.run(databases: 2) { stage in
            try await stage.declare(12)
            let agents = "SELECT count(*) FROM kii_push.agent"
            let here = try #require(try await Int(stage.sql(agents).dropLast()))
            #expect((1...11).contains(here))
            #expect(try await stage.fleet.agents() == (1...12).map { "agent-\($0)" }.sorted())
            let gateway = stage.receive(as: "only")
            try await stage.waitForSubscriptions(of: 12)
            try await stage.send(1...2)
            try await stage.waitForMessages(24)
            try await PostgresServer.close(stage.targets[1])
            try await stage.send(3...4)
            try await stage.waitForMessages(24 + 2 * here)
            let status = try await stage.fleet.status()
            #expect(status.unreachable.keys.elementsEqual([1]))
            #expect(status.gateways.map(\.database) == [0])
            #expect(status.gateways.map(\.agents) == [here])
            await #expect(throws: PushAgentError.self) { _ = try await stage.fleet.agents() }
            try await PostgresServer.reopen(stage.targets[1])
            try await stage.waitForMessages(48)
            #expect(stage.counts == FleetStage.each(12, 1...4))
            let gateways = try await stage.fleet.status().gateways
            #expect(gateways.map(\.name) == ["only", "only"])
            #expect(gateways.map(\.agents) == [here, 12 - here])
            gateway.cancel()
            try await gateway.value
        }
    }

    @Test func anAgentStaysWhereItWasDeclared() async throws {
        try await FleetStage.run(databases: 2) { stage in
            let other = Fleet(.postgres(stage.targets.reversed()))
            try await other.add([stage.agent("agent-1"), stage.agent("agent-2"), stage.agent("agent-3")])
            let before = try await stage.sql("SELECT string_agg(name, ' ' ORDER BY name) FROM kii_push.agent")
            try await stage.declare(3)
            #expect(try await stage.sql("SELECT string_agg(name, ' ' ORDER BY name) FROM kii_push.agent") == before)
            #expect(try await stage.fleet.agents().count == 3)
            #expect(try await stage.fleet.remove(agent: "agent-2"))
            #expect(try await stage.fleet.agents() == ["agent-1", "agent-3"])
            #expect(try await !stage.fleet.remove(agent: "nobody"))
        }
    }

    @Test func aRuntimeHasOneAndNoneIsThereTwice() async throws {
        let target = "dbname=nowhere"
        #expect(throws: PushAgentError.self) {
            try PushRuntime(.postgres([target, "dbname=elsewhere"]), gateway: "one")
        }
        #expect(throws: PushAgentError.self) { try PushRuntime(.postgres([]), gateway: "one") }
        await #expect(throws: PushAgentError.self) {
            try await Fleet(.postgres([target, target])).receive(as: "one") { _ in NumberHandler { _, _, _ in } }
        }
        await #expect(throws: PushAgentError.self) { _ = try await Fleet(.postgres([])).status() }
    }
}
#endif
