#if Postgres
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct FleetTests {
    @Test func whoJoinsTakesItsShareAndWhoLeavesHandsOverAll() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(8)
            let first = try stage.begin("first")
            try await stage.waitForSubscriptions(of: 8)
            try await stage.send(1...5)
            try await stage.waitForMessages(40)
            let second = try stage.begin("second")
            // These messages arrive while agents move from one gateway to the other.
            try await stage.send(6...20)
            try await second.waitForShards(512)
            try await stage.send(21...25)
            let status = try await stage.fleet.status()
            #expect(status.gateways.map(\.name) == ["first", "second"])
            #expect(status.gateways.map(\.isAlive) == [true, true])
            #expect(status.gateways.map(\.shards) == [512, 512])
            #expect(status.gateways.map(\.agents).reduce(0, +) == 8)
            #expect(status.gateways.allSatisfy { $0.processID == getpid() })
            try await first.end()
            try await second.waitForShards(1024)
            try await stage.send(26...30)
            try await stage.waitForMessages(8 * 30)
            #expect(stage.counts == FleetStage.each(8, 1...30))
            // An agent keeps its token and its installation when it moves, so it registers only one user.
            #expect(stage.users == Array(repeating: 1, count: 8))
            // Some verdicts may not be stored yet.
            try await stage.waitForVerdicts(240)
            let ledger = try await second.runtime.ledger()
            #expect(ledger.received - ledger.duplicates == 240)
            try await second.end()
            let after = try await stage.fleet.status()
            #expect(after.freeShards == 1024 && after.agentsWithoutGateway == 8)
            #expect(after.gateways.allSatisfy { $0.condition == .stopped && $0.shards == 0 && $0.unhandled == 0 })
            #expect(after.gateways.allSatisfy { $0.endedFor.map { $0 < .seconds(600) } ?? false })
        }
    }

    /// The ledger keeps the counts of the removed gateways.
    @Test func whoHasLeftIsForgottenInTime() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            for name in ["stopped", "gone", "stopped-lately", "gone-lately"] {
                let gateway = try stage.begin(name)
                try await stage.waitForSubscriptions(of: 1)
                try await gateway.waitForShards(1024)
                try await gateway.end()
            }
            _ = try await stage.sql(
                """
                UPDATE kii_push.gateway SET received = 10, duplicates = 1;
                UPDATE kii_push.gateway SET stopped_at = NULL, alive_until = now() - interval '2 days'
                    WHERE name LIKE 'gone%';
                UPDATE kii_push.gateway SET alive_until = now() - interval '8 days' WHERE name = 'gone';
                UPDATE kii_push.gateway SET stopped_at = now() - interval '25 hours' WHERE name = 'stopped'
                """)
            let before = try await stage.sql("SELECT sum(received), sum(duplicates) FROM kii_push.gateway")
            let last = try stage.begin("last")
            let names = ["gone-lately", "last", "stopped-lately"]
            try await stage.waitForGateways { $0.map(\.name) == names }
            #expect(try await stage.sql("SELECT sum(received), sum(duplicates) FROM kii_push.gateway") == before)
            let again = try stage.begin("gone")
            try await again.waitForShards(512)
            try await again.end()
            try await last.end()
        }
    }

    /// A suspended process does not know that another gateway has taken over.
    @Test func whoStandsStillPastItsLeaseIsFenced() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(4)
            let zombie = try stage.begin("zombie", lease: .seconds(2))
            try await stage.waitForSubscriptions(of: 4)
            try await stage.send(1...5)
            try await stage.waitForMessages(20)
            // The answers must be stored before the takeover, or the messages would be handled again.
            try await stage.waitForVerdicts(20)
            let isOver = DispatchSemaphore(value: 0)
            zombie.runtime.loop.submit { isOver.wait() }
            try await stage.send(6...10)
            try await stage.waitForGateways { $0[0].condition == .late }
            let other = try stage.begin("other", lease: .seconds(2))
            let takeover = try await other.first { if case .tookOver = $0 { true } else { false } }
            #expect(takeover == .tookOver(shards: 1024))
            try await stage.send(11...15)
            try await stage.waitForMessages(4 * 15)
            isOver.signal()
            let error = await #expect(throws: PushAgentError.self) { try await zombie.receiving.value }
            guard case .leaseLost(gateway: "zombie", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("stood still"), "\(reason)")
            await zombie.runtime.shutdown()
            #expect(stage.counts == FleetStage.each(4, 1...15))
            // The server may take a moment to notice the end of the connection.
            try await stage.waitForGateways { $0[1].condition != .late }
            let gateways = try await stage.fleet.status().gateways
            #expect(gateways.map(\.condition) == [.alive, .gone])
            #expect(gateways.map { $0.endedFor == nil } == [true, false])
            #expect(gateways.map(\.timesDeclaredDead) == [0, 1])
            #expect(gateways.map(\.shardsTakenOver) == [1024, 0])
            try await other.end()
        }
    }

    @Test func whatWaitsIsCountedByShard() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(3)
            let kept = Locked<[FetchCompletion]?>([])
            let gateway = try stage.begin("one") { _, _, _, completion in
                let isKept = kept.withLock {
                    $0?.append(completion)
                    return $0 != nil
                }
                if !isKept { completion(.newData) }
            }
            try await stage.waitForSubscriptions(of: 3)
            try await stage.send(1...2)
            try await stage.waitForRows(6)
            let shards = try await stage.sql("SELECT shard FROM kii_push.agent").split(separator: "\n")
            let backlog = try #require(await stage.fleet.backlog(of: "one").first)
            #expect(Set(backlog.messages.keys) == Set(shards.compactMap { Int64($0) }))
            #expect(backlog.messages.values.reduce(0, +) == 6)
            #expect(backlog.lag > .zero)
            #expect(await stage.fleet.backlog(of: "two") == [FleetBacklog(database: 0)])
            for completion in kept.withLock({ $0.take() }) ?? [] { completion(.newData) }
            try await stage.waitForVerdicts(6)
            #expect(await stage.fleet.backlog(of: "one") == [FleetBacklog(database: 0)])
            try await gateway.end()
        }
    }

    /// The database is away for longer than the lease, and there is no other gateway. Agents connect again only after
    /// the pending messages are stored. Otherwise the broker's redeliveries would count as new messages.
    @Test func afterADatabaseThatWasAwayAgentsGoOn() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(3)
            // With this grace period, agents stop without waiting for the database.
            let gateway = try stage.begin("only", lease: .seconds(2), grace: .milliseconds(50))
            try await stage.waitForSubscriptions(of: 3)
            // A second packet ID shows the agent that the broker does not restart at 1.
            try await stage.send(1...1)
            try await stage.waitForVerdicts(3)
            try await PostgresServer.close(stage.target)
            try await stage.send(2...5)
            try await gateway.first { $0 == .leaseOver }
            try await stage.send(6...10)
            #expect(stage.counts == FleetStage.each(3, 1...1))
            // The lease is renewed while the database still refuses some turns.
            try await PostgresServer.reopen(
                stage.target,
                after: """
                    CREATE SEQUENCE tries; GRANT ALL ON SEQUENCE tries TO PUBLIC;
                    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        IF nextval('public.tries') <= 3 THEN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END IF;
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER refuse BEFORE INSERT ON kii_push.message EXECUTE FUNCTION refuse()
                    """)
            try await gateway.first { $0 == .databaseRecovered }
            try await stage.waitForMessages(30)
            try await gateway.end()
            #expect(stage.counts == FleetStage.each(3, 1...10))
            #expect(try await stage.sql("SELECT count(*) FROM kii_push.message") == "30\n")
        }
    }

    /// The connection stays open while the server's process is stopped.
    @Test func aDatabaseThatDoesNotAnswerIsTold() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            let gateway = try stage.begin("only", lease: .seconds(2))
            try await stage.waitForSubscriptions(of: 1)
            func backend() async throws -> pid_t {
                let text = try await stage.sql("SELECT backend FROM kii_push.gateway")
                return try #require(pid_t(text.split(separator: "\n").first ?? ""))
            }
            let process = try await backend()
            kill(process, SIGSTOP)
            try await gateway.first { if case .databaseFailed = $0 { true } else { false } }
            kill(process, SIGCONT)
            try await gateway.first { $0 == .databaseRecovered }
            try await stage.send(1...3)
            try await stage.waitForMessages(3)
            try await stage.waitForVerdicts(3)
            let next = try await backend()
            kill(next, SIGSTOP)
            gateway.receiving.cancel()
            try await gateway.receiving.value
            kill(next, SIGCONT)
            await gateway.runtime.shutdown()
        }
    }

    /// For example, rights are missing. Agents still receive messages.
    @Test func whatTheDatabaseRefusesIsToldOnce() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            let gateway = try stage.begin("only", lease: .seconds(2))
            try await stage.waitForSubscriptions(of: 1)
            _ = try await stage.sql("ALTER TABLE kii_push.request RENAME TO requests")
            try await gateway.first {
                if case .refused(let reason) = $0 { reason.contains("reading requests failed") } else { false }
            }
            try await stage.send(1...3)
            try await stage.waitForVerdicts(3)
            _ = try await stage.sql("ALTER TABLE kii_push.agent RENAME TO agents")
            _ = try await stage.sql("UPDATE kii_push.shard SET revision = revision + 1")
            var told = 0
            try await gateway.first {
                guard case .refused(let reason) = $0 else { return false }
                told += 1
                return reason.contains("reading agents failed")
            }
            #expect(told == 1)
            _ = try await stage.sql("ALTER TABLE kii_push.agents RENAME TO agent")
            try await gateway.end()
        }
    }

    /// A restored backup lacks the later commits.
    @Test func aDatabaseThatIsOlderThanWhatItHasConfirmedIsTold() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(2)
            let gateway = try stage.begin("only")
            try await stage.waitForSubscriptions(of: 2)
            try await stage.send(1...5)
            try await stage.waitForVerdicts(10)
            try await PostgresServer.close(stage.target)
            try await PostgresServer.reopen(stage.target, after: "UPDATE kii_push.gateway SET turn = turn - 1")
            let event = try await gateway.first {
                if case .databaseFailed(let reason) = $0 { reason.contains("older") } else { false }
            }
            #expect("\(event)".contains("what was acknowledged since is gone"))
            let error = await #expect(throws: PushAgentError.self) { try await gateway.receiving.value }
            guard case .leaseLost(gateway: "only", _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            await gateway.runtime.shutdown()
        }
    }

    /// Other gateways removed the row of a gateway that was suspended for long, or a person did.
    @Test func whoIsForgottenWhileItRunsIsToldWhy() async throws {
        try await FleetStage.run { stage in
            let gateway = try stage.begin("only", lease: .seconds(3))
            try await gateway.waitForShards(1024)
            _ = try await stage.sql("UPDATE kii_push.shard SET gateway = NULL; DELETE FROM kii_push.gateway")
            let error = await #expect(throws: PushAgentError.self) { try await gateway.receiving.value }
            guard case .leaseLost(gateway: "only", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("stood still for more than a week and was forgotten"), "\(reason)")
            await gateway.runtime.shutdown()
        }
    }

    /// The restore keeps the connections, the gateway's name and its session.
    @Test(.timeLimit(.minutes(10))) func aBackupThatIsRestoredUnderAGatewayIsTold() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            let waiting = Locked<[FetchCompletion]>([])
            let gateway = try stage.begin("only", grace: .milliseconds(50)) { _, _, _, completion in
                waiting.withLock { $0.append(completion) }
            }
            try await stage.waitForSubscriptions(of: 1)
            try await stage.send(1...5)
            try await stage.waitForRows(5)
            let backup = stage.directory + "/backup"
            let made = try await ForeignProgram("pg_dump", "-Fc", "-f", backup, "-d", stage.target).run()
            #expect(made.status == 0, "\(made.errors)")
            try await stage.send(6...35)
            try await stage.waitForRows(35)
            let words = ["pg_restore", "--clean", "--if-exists", "-d", stage.target, backup]
            let restored = try await ForeignProgram(words).run()
            #expect(restored.status == 0, "\(restored.errors)")
            let event = try await gateway.first {
                if case .databaseFailed(let reason) = $0 { reason.contains("older") } else { false }
            }
            #expect("\(event)".contains("30 messages at least"), "\(event)")
            let error = await #expect(throws: PushAgentError.self) { try await gateway.receiving.value }
            #expect(error?.description.contains("30 messages at least") == true, "\(String(describing: error))")
            await gateway.runtime.shutdown()
            #expect(try await stage.sql("SELECT count(*) FROM kii_push.message") == "5\n")
        }
    }

    @Test func aNameThatIsAliveIsRefused() async throws {
        try await FleetStage.run { stage in
            let first = try stage.begin("gateway", lease: .seconds(3))
            try await first.waitForShards(1024)
            let second = try stage.begin("gateway", lease: .seconds(3))
            let error = await #expect(throws: PushAgentError.self) { try await second.receiving.value }
            guard case .gatewayInUse("gateway", let host, Int(getpid()))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!host.isEmpty)
            // The advice must not be to stop this very process.
            let text = error?.description ?? ""
            #expect(text.contains("process \(getpid()) on \(host), another runtime of this process"), "\(text)")
            #expect(!text.contains("stop it"), "\(text)")
            await second.runtime.shutdown()
            try await first.end()
            let third = try stage.begin("gateway")
            try await third.waitForShards(1024)
            try await third.end()
        }
    }

    @Test func agentsComeAndGoWhileAGatewayRuns() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            let gateway = try stage.begin("gateway", lease: .seconds(5))
            try await stage.waitForSubscriptions(of: 1)
            let thing = KiiAccount.thing(vendorThingID: "lamp", password: Secret("secret"))
            try await stage.fleet.add([stage.agent("lamp-1", account: thing)])
            try await stage.waitForSubscriptions(of: 2)
            // A second agent of the same thing gets the same installation.
            try await stage.fleet.add([stage.agent("lamp-2", account: thing)])
            for seconds in [1, 2] as [Int64] {
                let failure = try await gateway.first {
                    if case .agentFailed("lamp-2", _, _) = $0 { true } else { false }
                }
                guard case .agentFailed(_, let reason, let pause) = failure else {
                    Issue.record("\(failure)")
                    return
                }
                #expect(reason.contains("declare one agent alone"), "\(reason)")
                #expect(pause == .seconds(seconds))
            }
            try await PostgresServer.run(
                """
                INSERT INTO kii_push.agent (name, shard, declaration)
                    VALUES ('lamp-3', kii_push.shard_of('lamp-3'), '{"app": 1}');
                UPDATE kii_push.shard SET revision = revision + 1 WHERE id = kii_push.shard_of('lamp-3')
                """, at: stage.target)
            let refused = try await gateway.first { if case .agentFailed("lamp-3", _, _) = $0 { true } else { false } }
            #expect(refused == .agentFailed(name: "lamp-3", reason: "/account is missing", retryIn: nil))
            for name in ["lamp-1", "lamp-3"] { #expect(try await stage.fleet.remove(agent: name)) }
            #expect(try await !stage.fleet.remove(agent: "nobody"))
            try await stage.waitForSubscriptions(of: 3)
            #expect(try await stage.fleet.agents() == ["agent-1", "lamp-2"])
            try await stage.send(1...3)
            try await stage.waitForMessages(6)
            #expect(Set(stage.counts.keys) == ["agent-1", "lamp-2"])
            try await gateway.end()
        }
    }

    @Test func aGatewayThatIsDrainedHandsOverAll() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(4)
            // Long enough that a busy machine renews the lease in time: a gateway whose lease is over ends.
            let first = try stage.begin("first", lease: .seconds(15))
            try await first.waitForShards(1024)
            let second = try stage.begin("second", lease: .seconds(15))
            try await second.waitForShards(512)
            #expect(try await stage.fleet.drain(gateway: "first"))
            #expect(try await !stage.fleet.drain(gateway: "nobody"))
            try await second.waitForShards(1024)
            try await first.waitForShards(0)
            #expect(try await stage.fleet.status().gateways.map(\.isDraining) == [true, false])
            try await first.end()
            try await second.end()
        }
    }
}
#endif
