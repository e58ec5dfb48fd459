#if Postgres
import Testing

@testable import KiiPushPostgres

@Suite struct FleetPlanTests {
    private func row(_ name: String, in shard: Int64, _ declaration: String = "{}", leaving: Bool = false) -> FleetRow {
        FleetRow(name: name, shard: shard, declaration: declaration, isLeaving: leaving)
    }

    private func plan(_ shards: ClosedRange<Int64>) -> FleetPlan {
        var plan = FleetPlan()
        let revisions = Dictionary(uniqueKeysWithValues: shards.map { ($0, Int64(0)) })
        #expect(plan.renewed(share: 1024, gateways: 1, shards: revisions) == [.read(Array(shards), number: 1)])
        let rows = shards.map { self.row("agent-\($0)", in: $0) }
        #expect(plan.read(rows, number: 1) == rows.map { .start($0) })
        return plan
    }

    private func revisions(_ shards: ClosedRange<Int64>) -> [Int64: Int64] {
        Dictionary(uniqueKeysWithValues: shards.map { ($0, 0) })
    }

    @Test func agentsOfItsShardsStart() {
        var plan = self.plan(1...3)
        #expect([plan.shardCount, plan.agentCount] == [3, 3])
        #expect(plan.renewed(share: 1024, gateways: 1, shards: self.revisions(1...3)).isEmpty)
    }

    @Test func whatIsBeyondItsShareIsHandedOverSixteenAtATime() {
        var plan = self.plan(1...40)
        let stopped = plan.renewed(share: 20, gateways: 2, shards: self.revisions(1...40))
        #expect(stopped == (21...36).map { .stop(agent: "agent-\($0)") })
        #expect(plan.isUnsettled)
        // The end of an agent releases its shard and lets the next agent stop.
        let next = plan.ended("agent-21")
        #expect(next == [.stop(agent: "agent-37"), .release([21])])
        #expect(plan.renewed(share: 20, gateways: 2, shards: self.revisions(1...40)).isEmpty)
        #expect(plan.released([21]).isEmpty)
        for number in 22...40 { _ = plan.ended("agent-\(number)") }
        #expect(plan.released(Array(22...40)).isEmpty)
        #expect([plan.shardCount, plan.agentCount] == [20, 20])
        #expect(!plan.isUnsettled)
    }

    @Test func aShardWithoutAgentsGoesAtOnce() {
        var plan = FleetPlan()
        let shards = self.revisions(1...100)
        _ = plan.renewed(share: 100, gateways: 1, shards: shards)
        _ = plan.read([], number: 1)
        #expect(plan.renewed(share: 50, gateways: 2, shards: shards) == [.release(Array(51...100))])
        // The gateway could not reach the database.
        plan.failedToRelease(Array(51...100))
        #expect(plan.renewed(share: 50, gateways: 2, shards: shards) == [.release(Array(51...100))])
    }

    /// Otherwise the next gateway would get only shards without agents, and all agents would stay.
    @Test func aShardWithoutAgentsWaitsForThoseBeforeIt() {
        var plan = FleetPlan()
        let shards = self.revisions(1...100)
        _ = plan.renewed(share: 100, gateways: 1, shards: shards)
        let occupied = (1...100).filter { $0 % 4 == 0 }.map(Int64.init)
        _ = plan.read(occupied.map { self.row("agent-\($0)", in: $0) }, number: 1)
        let steps = plan.renewed(share: 20, gateways: 2, shards: shards)
        #expect(steps.dropLast() == occupied.filter { (24...84).contains($0) }.map { .stop(agent: "agent-\($0)") })
        #expect(steps.last == .release((21...87).filter { $0 % 4 != 0 }))
        #expect(plan.ended("agent-24") == [.stop(agent: "agent-88"), .release([24, 89, 90, 91])])
    }

    @Test func anotherDeclarationStartsTheAgentAnew() {
        var plan = self.plan(1...1)
        #expect(plan.renewed(share: 9, gateways: 1, shards: [1: 1]) == [.read([1], number: 2)])
        let changed = self.row("agent-1", in: 1, "{\"a\":1}")
        #expect(plan.read([changed], number: 2) == [.stop(agent: "agent-1")])
        // The agent may have saved its state until its end, so the shard is read again.
        #expect(plan.ended("agent-1") == [.read([1], number: 3)])
        #expect(plan.read([], number: 2).isEmpty)
        #expect(plan.read([changed], number: 3) == [.start(changed)])
        #expect(plan.renewed(share: 9, gateways: 1, shards: [1: 1]).isEmpty)
    }

    @Test func anAgentThatLeavesStopsAndIsRemoved() {
        var plan = self.plan(1...1)
        _ = plan.renewed(share: 9, gateways: 1, shards: [1: 1])
        let leaving = self.row("agent-1", in: 1, leaving: true)
        #expect(plan.read([leaving], number: 2) == [.stop(agent: "agent-1")])
        let ended = plan.ended("agent-1")
        #expect(ended.count == 1)
        guard case .remove(let row)? = ended.first else {
            Issue.record("\(ended)")
            return
        }
        #expect(row.name == "agent-1")
        // The gateway could not reach the database. A leaving agent that does not run is removed at once.
        plan.failedToRemove(row)
        #expect(plan.renewed(share: 9, gateways: 1, shards: [1: 1]) == [.read([1], number: 3)])
        #expect(plan.read([leaving], number: 3) == [.remove(leaving)])
        // An agent whose row is gone stops too.
        let other = self.row("agent-2", in: 1)
        _ = plan.renewed(share: 9, gateways: 1, shards: [1: 2])
        #expect(plan.read([other], number: 4) == [.start(other)])
        _ = plan.renewed(share: 9, gateways: 1, shards: [1: 3])
        #expect(plan.read([], number: 5) == [.stop(agent: "agent-2")])
    }

    @Test func aReadThatFailedIsRepeated() {
        var plan = FleetPlan()
        #expect(plan.renewed(share: 9, gateways: 1, shards: [1: 1]) == [.read([1], number: 1)])
        #expect(plan.renewed(share: 9, gateways: 1, shards: [1: 1]).isEmpty)
        plan.failedToRead(number: 1)
        #expect(plan.isUnsettled)
        #expect(plan.renewed(share: 9, gateways: 1, shards: [1: 1]) == [.read([1], number: 2)])
    }

    /// The lease ends while agents run, and is renewed before they have stopped.
    @Test func afterALeaseThatWasOverAgentsStartAgain() {
        var plan = self.plan(1...2)
        #expect(plan.suspend() == [.stop(agent: "agent-1"), .stop(agent: "agent-2")])
        #expect(plan.shardCount == 0)
        let shards = self.revisions(1...2)
        #expect(plan.renewed(share: 9, gateways: 1, shards: shards) == [.read([1, 2], number: 2)])
        let rows = [self.row("agent-1", in: 1), self.row("agent-2", in: 2)]
        #expect(plan.ended("agent-1") == [.read([1], number: 3)])
        #expect(plan.read(rows, number: 2).isEmpty)
        #expect(plan.ended("agent-2") == [.read([2], number: 4)])
        #expect(plan.read([rows[0]], number: 3) == [.start(rows[0])])
        #expect(plan.read([rows[1]], number: 4) == [.start(rows[1])])
    }

    /// The lease ends while the database still releases a shard.
    @Test func aShardThatIsBeingReleasedIsNotStartedAgain() {
        var plan = FleetPlan()
        let shards = self.revisions(1...2)
        _ = plan.renewed(share: 2, gateways: 1, shards: shards)
        _ = plan.read([], number: 1)
        #expect(plan.renewed(share: 1, gateways: 2, shards: shards) == [.release([2])])
        #expect(plan.suspend().isEmpty)
        #expect(plan.renewed(share: 2, gateways: 1, shards: shards) == [.read([1], number: 2)])
        #expect(plan.released([2]).isEmpty)
        #expect(plan.renewed(share: 2, gateways: 1, shards: shards) == [.read([2], number: 3)])
    }

    /// A late answer about a lost shard is ignored.
    @Test func aShardThatIsLostStopsItsAgents() {
        var plan = self.plan(1...2)
        #expect(plan.renewed(share: 9, gateways: 1, shards: [2: 0]) == [.stop(agent: "agent-1")])
        #expect(plan.read([self.row("late", in: 1)], number: 1).isEmpty)
        #expect(plan.ended("agent-1").isEmpty)
        #expect(plan.agentCount == 1)
    }
}
#endif
