#if Postgres
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct PostgresQuestionTests {
    /// At the start of a gateway, each agent asks for its installation.
    @Test func questionsOfManyAgentsShareTransactionsAndTheLeaseDoesNotWaitForThem() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            _ = try await store.installation("taken", agent: "other")
            try await PostgresServer.run(
                "INSERT INTO kii_push.agent (name, shard, declaration) VALUES ('other', 1, '{}')", at: place.address)
            let (answers, done) = (Journal<String>(), OneShot<Void>())
            try await store.read { store in
                for number in 0..<300 {
                    let id = number == 7 ? "taken" : "installation-\(number)"
                    store.installation(id: id, of: nil, agent: "agent") { answer in
                        switch answer {
                        case .success: answers.add("key")
                        case .failure(let error): answers.add("\(error.kind)")
                        }
                        if number == 299 { done.resume(()) }
                    }
                }
                (store as? PostgresStore)?.renew { _ in answers.add("renewed") }
            }
            await done.value()
            #expect(answers.entries.filter { $0 == "key" }.count == 299)
            #expect(answers.entries.filter { $0 == "\(InboxError.Kind.ofAnother)" }.count == 1)
            let renewal = try #require(answers.entries.firstIndex(of: "renewed"))
            #expect(renewal < 100)
            // The batch of 64 questions with the refused one was repeated one by one.
            let transactions = try await PostgresServer.run(
                "SELECT count(DISTINCT xmin::text) FROM kii_push.installation", at: place.address)
            #expect(Int(transactions.dropLast()).map { $0 < 75 } == true)
        }
    }

    @Test func whatWaitsFailsWithTheConnection() async throws {
        try await withStorePlace(.postgres) { place in
            let store = try await place.open()
            let (answers, done) = (Journal<String>(), OneShot<Void>())
            try await store.read { store in
                for number in 0..<1000 {
                    store.installation(id: "installation-\(number)", of: nil, agent: "agent") { answer in
                        if case .failure(let error) = answer { answers.add("\(error.kind)") }
                        if number == 999 { done.resume(()) }
                    }
                }
                (store as? PostgresStore)?.connection?.abandon()
            }
            await done.value()
            #expect(answers.entries == Array(repeating: "\(InboxError.Kind.away)", count: 1000))
        }
    }
}
#endif
