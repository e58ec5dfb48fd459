import Testing

@testable import KiiPushCore

@Suite struct DurableStoreTests {
    @Test(arguments: StoreKind.durable) func theNextProcessFindsWhatTheLastOneHad(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let first = try await place.open()
            let key = try await first.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await first.receive(message, message.with { $0.isInHand = false }, message)
            try await first.change(.change(rows[2], of: key, .done(.newData), attempts: 1))
            let counted = try await first.ledger()
            try await first.end()
            let second = try await place.open()
            #expect(try await second.installation("a") == key)
            #expect(try await second.ledger() == counted)
            #expect(counted.isBalanced)
            #expect(try await second.answer(.suspects(after: 0), of: key).messages.map(\.sequence) == [rows[0]])
            #expect(try await second.unproven(key) == rows)
            let waiting = try await second.answer(.source(TestMessage.source(), before: nil), of: key)
            #expect(waiting.messages.map(\.sequence) == [rows[1]])
            #expect(try await second.receive(message)[0] > rows[2])
            #expect(try await second.read { $0.pendingBytes } == counted.running * 3 * message.arrival.rowBytesForTests)
        }
    }

    @Test(arguments: StoreKind.durable) func whatNoHandlerIsToSeeIsADeadLetter(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message.with { $0.payload = [0xFF, 0, 1] }, message)
            try await store.change(.change(rows[1], of: key, .dead(.rejected("no\0\u{1F600}")), attempts: 2))
            let letters: [MessageRecord] = try await store.ask { $0.deadLetters(after: 0, limit: 10, completion: $1) }
            #expect(letters.map(\.messageID) == rows)
            #expect(letters.map(\.installationID) == ["a", "a"])
            #expect(letters.first?.payload == [0xFF, 0, 1])
            #expect(letters.map(\.attempts) == [0, 2])
            if case .dead(.undecodable) = letters[0].state {} else { Issue.record("\(letters[0].state)") }
            if case .dead(.rejected) = letters[1].state {} else { Issue.record("\(letters[1].state)") }
            #expect(try await store.read { $0.deadLetterStock?.count } == 2)
            let later: [MessageRecord] = try await store.ask {
                $0.deadLetters(after: rows[0], limit: 10, completion: $1)
            }
            #expect(later.map(\.messageID) == [rows[1]])
        }
    }

    @Test(arguments: StoreKind.durable) func aPersonDecides(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message, message, message.with { $0.payload = [1] })
            for row in rows[...1] { try await store.change(.change(row, of: key, .dead(.attemptsFailed(.failed)))) }
            #expect(try await store.standing(rows[0]) == .dead)
            let source: Int64? = try await store.ask { $0.requeue(rows[0], at: .now(), completion: $1) }
            #expect(source == TestMessage.source())
            #expect(try await store.standing(rows[0]) == .waiting)
            #expect(try await store.answer(.row(rows[0]), of: key).messages.map(\.attempts) == [0])
            for row in rows[1...] { try await store.ask { $0.drop(row, completion: $1) } }
            #expect(try await store.standing(rows[1]) == nil)
            let gone: Int64? = try await store.ask { $0.requeue(rows[1], at: .now(), completion: $1) }
            #expect(gone == nil)
            let ledger = try await store.ledger()
            #expect([ledger.dropped, ledger.running, ledger.dead] == [2, 1, 0])
            #expect(ledger.isBalanced)
        }
    }

    @Test(arguments: StoreKind.durable) func whatAnOwnersFormerInstallationLeftIsTakenOver(_ kind: StoreKind)
        async throws
    {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let owner = InboxOwner(site: "s", app: "a", principal: "user:1")
            let former = try await store.installation("former", of: owner)
            let stranger = try await store.installation("stranger")
            let message = { TestMessage(TestLink(installation: $0)) }
            try await store.receive(message(former), message(stranger))
            let key = try await store.installation("present", of: owner)
            func takeOver(besides running: Set<Int64>) async throws -> [[Int64]] {
                let adoptions: [Adoption] = try await store.ask {
                    $0.takeOver(key, besides: running.contains, completion: $1)
                }
                return adoptions.map { [$0.key, Int64($0.messages)] }.sorted { $0[0] < $1[0] }
            }
            #expect(try await takeOver(besides: [former]) == [])
            #expect(try await takeOver(besides: []) == [[former, 1]])
            let revision = try await store.read { $0.backlogRevision }
            let adoption: Adoption? = try await store.ask { $0.adopt("stranger", by: "present", completion: $1) }
            #expect(adoption?.key == stranger)
            #expect(adoption?.messages == 1)
            #expect(try await store.read { $0.backlogRevision } > revision)
            #expect(try await takeOver(besides: []) == [[former, 0], [stranger, 0]].sorted { $0[0] < $1[0] })
            let nobody: Adoption? = try await store.ask { $0.adopt("nobody", by: "present", completion: $1) }
            #expect(nobody == nil)
            // An agent that receives as this installation again keeps its messages.
            _ = try await store.installation("former", of: owner)
            #expect(try await takeOver(besides: [former]) == [[stranger, 0]])
        }
    }

    @Test(arguments: StoreKind.durable) func bytesThatWaitAreCountedByInstallation(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let keys = [try await store.installation("a"), try await store.installation("b")]
            let messages = keys.map { TestMessage(TestLink(installation: $0)) }
            let rows = try await store.receive(messages[0], messages[1], messages[1])
            let bytes = messages[0].arrival.rowBytesForTests
            #expect(try await store.read { $0.pendingBytes } == 3 * bytes)
            #expect(try await store.read { try $0.pendingBytes(besides: [keys[0]]) } == 2 * bytes)
            try await store.change(.change(rows[1], of: keys[1], .presented))
            #expect(try await store.read { try $0.pendingBytes(besides: [keys[0]]) } == bytes)
            try await store.change(.change(rows[2], of: keys[1], .done(.newData)))
            #expect(try await store.read { $0.pendingBytes } == bytes)
        }
    }
}

extension Arrival {
    fileprivate var rowBytesForTests: Int64 {
        InboxCounts.bytes(topic: self.message.topic.utf8.count, payload: self.message.payload.count)
    }
}
