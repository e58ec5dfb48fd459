#if Postgres
import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

/// A person's requests. The gateway that has the message carries out the request.
@Suite struct RequestTests {
    private static let patience: Duration = .seconds(120)

    private func numbers(_ stage: FleetStage) async throws -> [Int64] {
        try await stage.sql("SELECT sequence FROM kii_push.message ORDER BY sequence")
            .split(separator: "\n").compactMap { Int64($0) }
    }

    @Test func deadLettersAreTriedAgainByWhoeverHasThem() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(6)
            let first = try stage.begin("first", lease: .seconds(15))
            let second = try stage.begin("second", lease: .seconds(15))
            try await second.waitForShards(512)
            try await stage.waitForSubscriptions(of: 6)
            try await stage.send(1...4)
            try await stage.waitForVerdicts(24)
            _ = try await stage.sql("UPDATE kii_push.message SET state = 5")
            let letters = try await stage.fleet.deadLetters()
            #expect(try await letters == self.numbers(stage))
            let answers = try await stage.fleet.decide(.retry, letters, patience: Self.patience)
            #expect(answers == Dictionary(uniqueKeysWithValues: letters.map { ($0, .carriedOut) }))
            try await stage.waitForVerdicts(24)
            let once = FleetStage.each(6, 1...4)
            #expect(stage.counts == once.mapValues { $0.mapValues { $0 * 2 } })
            #expect(try await stage.sql("SELECT count(*) FROM kii_push.request") == "0\n")
            try await first.end()
            try await second.end()
        }
    }

    @Test func eachIsAnsweredForWhereItStands() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            let held = Locked<FetchCompletion?>(nil)
            let gateway = try stage.begin("gateway", lease: .seconds(5)) { _, number, _, completion in
                if number == 2 { held.withLock { $0 = completion } } else { completion(.newData) }
            }
            try await stage.waitForSubscriptions(of: 1)
            try await stage.send(1...2)
            try await stage.waitForMessages(2)
            try await stage.waitForVerdicts(1)
            let numbers = try await self.numbers(stage)
            let absent: Int64 = 1 << 40
            let answers = try await stage.fleet.decide(.drop, numbers + [absent], patience: Self.patience)
            #expect(answers[numbers[0]] == .carriedOut)
            #expect(answers[absent] == .notFound)
            let retried = try await stage.fleet.decide(.retry, [numbers[1]], patience: Self.patience)
            for answer in [answers[numbers[1]], retried[numbers[1]]] {
                guard case .running? = answer else {
                    Issue.record("\(String(describing: answer))")
                    continue
                }
            }
            #expect(try await self.numbers(stage) == [numbers[1]])
            // The message may be gone when its gateway looks for it. An answer that is no longer awaited is removed.
            let request = "INSERT INTO kii_push.request (installation, message, what)"
            _ = try await stage.sql("\(request) SELECT key, \(absent), 'drop' FROM kii_push.installation")
            try await stage.wait(until: "(SELECT answer FROM kii_push.request) = -2")
            _ = try await stage.sql("UPDATE kii_push.request SET answered_at = now() - interval '2 minutes'")
            try await stage.wait(until: "NOT EXISTS (SELECT FROM kii_push.request)")
            held.withLock { $0 }?(.newData)
            try await stage.waitForVerdicts(1)
            #expect(try await gateway.runtime.ledger().isBalanced)
            try await gateway.end()
        }
    }

    /// The next gateway carries out each request once, and does so before it passes the message to a handler.
    @Test func whatNobodyHasIsDoneByTheNextGateway() async throws {
        try await FleetStage.run { stage in
            try await stage.declare(1)
            let former = try stage.begin("former")
            try await stage.waitForSubscriptions(of: 1)
            try await stage.send(1...2)
            try await stage.waitForVerdicts(2)
            try await former.end()
            let numbers = try await self.numbers(stage)
            _ = try await stage.sql("UPDATE kii_push.message SET state = 5 WHERE sequence = \(numbers[0])")
            _ = try await stage.sql("UPDATE kii_push.message SET state = 0 WHERE sequence = \(numbers[1])")
            // The gateway has many other requests first.
            _ = try await stage.sql(
                """
                INSERT INTO kii_push.request (installation, message, what)
                SELECT key, 1000000000 + number, 'drop' FROM kii_push.installation, generate_series(1, 900) AS number
                """)
            for _ in 0..<3 {
                #expect(try await stage.fleet.decide(.retry, [numbers[0]], patience: .zero) == [:])
            }
            #expect(try await stage.fleet.decide(.drop, [numbers[1]], patience: .milliseconds(1)) == [:])
            let next = try stage.begin("next", lease: .seconds(5))
            try await stage.waitForVerdicts(1)
            try await stage.send(3...3)
            try await stage.waitForVerdicts(2)
            #expect(stage.counts == ["agent-1": [1: 2, 2: 1, 3: 1]])
            let answers = """
                SELECT count(*), count(answer), min(answer), max(answer) FROM kii_push.request WHERE message < 1000000000
                """
            #expect(try await stage.sql(answers) == "4|4|-1|-1\n")
            try await next.end()
        }
    }

    /// The gateway may have read the request before it lost its lease.
    @Test func whoHasLostItsLeaseDoesNothingOfIt() async throws {
        try await withStorePlace(.postgres) { place in
            let first = try await place.open()
            let key = try await first.installation("a")
            let rows = try await first.receive(TestMessage(TestLink(installation: key)))
            let ask = "INSERT INTO kii_push.request (installation, message, what) VALUES (\(key), \(rows[0]), 'drop')"
            try await PostgresServer.run(ask, at: place.address)
            let requests = try await first.requests()
            #expect(requests == [FleetRequest(decision: .drop, message: rows[0], installation: key)])
            let second = try await place.open()
            let writes: [() async throws -> Void] = [
                { try await first.ask { $0.drop(rows[0], completion: $1) } },
                { try await first.answer(requests[0], .notFound) },
            ]
            for body in writes {
                let error = await #expect(throws: InboxError.self) { try await body() }
                #expect(error?.kind == .fenced)
            }
            #expect(try await second.standing(rows[0]) == .inHand)
            // The new owner of the shard carries out the request, and answers it.
            #expect(try await second.requests() == requests)
            try await second.ask { $0.drop(rows[0], completion: $1) }
            #expect(try await second.requests().isEmpty)
            try await second.answer(requests[0], .notFound)
            #expect(try await PostgresServer.run("SELECT answer FROM kii_push.request", at: place.address) == "-1\n")
        }
    }
}

extension TestStore {
    fileprivate func requests() async throws -> [FleetRequest] {
        try await self.ask { store, completion in
            (store as? PostgresStore)?.requests(dropsOnly: false, completion: completion)
        }
    }

    fileprivate func answer(_ request: FleetRequest, _ decision: MessageDecision) async throws {
        try await self.ask { store, completion in
            (store as? PostgresStore)?.answer(request, decision, completion: completion)
        }
    }
}
#endif
