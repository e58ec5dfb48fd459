import Testing

@testable import KiiPushCore

@Suite struct StoreTests {
    @Test(arguments: StoreKind.all) func whatIsProvenIsForgottenOfOneInstallationAlone(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let keys = [try await store.installation("a"), try await store.installation("b")]
            let links = keys.map { TestLink(installation: $0) }
            let rows = try await store.receive(
                TestMessage(links[0]), TestMessage(links[1]), TestMessage(links[0]), TestMessage(links[1]))
            func counts() async throws -> [Int] {
                [try await store.unproven(keys[0]).count, try await store.unproven(keys[1]).count]
            }
            var all = [try await counts()]
            try await store.change(
                .change(rows[1], of: keys[1], .done(.newData)), .change(rows[2], of: keys[0], .done(.newData)),
                .change(rows[0], of: keys[0], .done(.newData)))
            for (place, row) in [(0, 1), (1, 3), (0, 1), (0, 2)] {
                try await store.read { $0.proven(installation: keys[place], through: rows[row]) }
                all.append(try await counts())
            }
            #expect(all == [[2, 2], [1, 2], [1, 0], [1, 0], [0, 0]])
        }
    }

    /// The doubt holds at once, before it is written and afterwards.
    @Test(arguments: StoreKind.all) func whatIsInDoubtCountsAgainWhenTheSessionIsTheSame(_ kind: StoreKind) async throws
    {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let (key, other) = (try await store.installation("a"), try await store.installation("b"))
            let (link, otherLink) = (TestLink(installation: key), TestLink(installation: other))
            let rows = try await store.receive(TestMessage(link), TestMessage(link), TestMessage(otherLink))
            try await store.read { $0.doubt(installation: key, through: rows[0]) }
            #expect(try await store.unproven(key) == [rows[1]])
            #expect(try await store.unproven(other) == [rows[2]])
            try await store.commit { Turn() }
            #expect(try await store.unproven(key) == [rows[1]])
            try await store.read { $0.proven(installation: key, through: 0) }
            #expect(try await store.unproven(key) == [rows[0], rows[1]])
        }
    }

    @Test(arguments: StoreKind.all) func aRepetitionIsTheRowOnceMoreIfItsBytesAre(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            // Swift compares the two topics as equal.
            let (topic, other) = ("caf\u{e9}", "cafe\u{301}")
            let link = TestLink(installation: try await store.installation("a"), topic: topic)
            let message = TestMessage(link)
            let row = try await store.receive(message)
            link.candidate.withLock { $0 = row[0] }
            let again = message.with { $0.duplicate = true }
            // In one turn, with new messages between redeliveries.
            let outcome = try await store.commit {
                let others = [again.with { $0.topic = other }, again.with { $0.truncatedLength = 9 }, again]
                return Turn(arrivals: ([again] + others).map(\.arrival))
            }
            let isNew = outcome.arrivals.map { if case .new = $0 { true } else { false } }
            #expect(isNew == [false, true, true, false])
            #expect(outcome.arrivals.first == .redelivered(row[0], isFinal: kind.isDurable, isInHand: true))
            let ledger = try await store.ledger()
            #expect(ledger.received == 5)
            #expect(ledger.duplicates == 2)
            #expect(ledger.dead == 2)
            #expect(ledger.isBalanced)
        }
    }

    @Test(arguments: StoreKind.all) func aSourceIsClaimedInOrderAsFarAsThereIsRoom(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key)).with { $0.isInHand = false }
            let rows = try await store.receive(
                message, message, message, message, message, message.with { $0.source = "b" })
            let names = try await store.answer(.sources(after: nil), of: key).sources
            #expect(names == ["a", "b"].map { TestMessage.source($0) }.sorted())
            #expect(try await store.answer(.sources(after: names[0]), of: key).sources == [names[1]])
            let source = TestMessage.source()
            let first = try await store.answer(.source(source, before: nil), of: key, limit: 2)
            #expect(first.messages.map(\.sequence) == [rows[0], rows[1]])
            #expect(!first.isComplete)
            // Row 0 waits again, and comes before later rows.
            try await store.change(.change(rows[0], of: key, .back()))
            let before = try await store.answer(.source(source, before: rows[3]), of: key)
            #expect(before.messages.map(\.sequence) == [rows[0], rows[2]])
            let last = try await store.answer(.source(source, before: nil), of: key)
            #expect(last.messages.map(\.sequence) == [rows[3], rows[4]])
            #expect(last.isComplete)
            #expect(last.messages.map(\.payload) == [message.arrival.message.payload, message.arrival.message.payload])
            #expect(try await store.ledger().running == 5)
            #expect(try await store.ledger().waiting == 1)
        }
    }

    /// A claimed message and a message that never waited are treated alike.
    @Test(arguments: StoreKind.durable) func whatIsClaimedIsInHandUntilItsVerdict(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let first = try await place.open()
            let key = try await first.installation("a")
            let link = TestLink(installation: key)
            let message = TestMessage(link).with { $0.isInHand = false }
            let rows = try await first.receive(message, message, message, message, message, message, message)
            let source = StoreClaim.Kind.source(TestMessage.source(), before: nil)
            #expect(try await first.answer(source, of: key).messages.count == 7)
            #expect(try await first.ledger().running == 7)
            let stored = StoredMessage.push(rows[4], installation: key).with { $0.topic = "" }
            let outcome = try await first.change(
                .change(rows[0], of: key, .done(.newData)),
                .change(rows[1], of: key, .retry(after: .seconds(600), failure: .failed, firstStart: nil), attempts: 1),
                .change(rows[2], of: key, .back()), .change(rows[3], of: key, .inHand, attempts: 1),
                .change(rows[4], of: key, .opened(stored, by: .open)))
            #expect(outcome.appeared == [])
            let _: Void = try await first.ask { $0.drop(rows[5], completion: $1) }
            let _: Int64? = try await first.ask { $0.requeue(rows[6], at: .now(), completion: $1) }
            var standings: [RowState?] = []
            for row in rows { standings.append(try await first.standing(row)) }
            #expect(standings == [.done, .retry, .waiting, .inHand, .inHand, nil, .waiting])
            #expect(try await first.answer(.row(rows[6]), of: key).messages.map(\.sequence) == [rows[6]])
            link.candidate.withLock { $0 = rows[6] }
            let again = try await first.commit { Turn(arrivals: [message.with { $0.duplicate = true }.arrival]) }
            #expect(again.arrivals == [.redelivered(rows[6], isFinal: true, isInHand: true)])
            let ledger = try await first.ledger()
            #expect([ledger.done, ledger.waiting, ledger.running, ledger.dropped] == [1, 2, 3, 1])
            try await first.end()
            let next = try await place.open()
            let suspects = try await next.answer(.suspects(after: 0), of: key).messages
            #expect(suspects.map(\.sequence) == [rows[3], rows[4], rows[6]])
            #expect(try await next.answer(source, of: key).messages.map(\.sequence) == [rows[2]])
        }
    }

    /// The limit counts weights. The first message is returned even if it exceeds the limit.
    @Test(arguments: StoreKind.durable) func aClaimTakesWhatItHasRoomFor(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            func message(_ padding: Int) -> TestMessage {
                TestMessage(TestLink(installation: key)).with { message in
                    message.isInHand = false
                    let text =
                        TestPipeline.push().dropLast() + #","p":""# + String(repeating: "x", count: padding) + "\"}"
                    message.payload = [UInt8](text.utf8)
                }
            }
            let rows = try await store.receive(message(900), message(100), message(2000), message(0))
            let scale = DeliveryScale(messages: 16, bytes: 16_000)
            func claim(_ limit: Int) async throws -> [Int64] {
                let claim = StoreClaim(
                    installation: key, kind: .source(TestMessage.source(), before: nil), limit: limit, scale: scale)
                return try await store.commit { Turn(claims: [claim]) }.answers.flatMap(\.messages).map(\.sequence)
            }
            #expect(try await claim(3) == [rows[0], rows[1]])
            #expect(try await claim(1) == [rows[2]])
            #expect(try await claim(1) == [rows[3]])
        }
    }

    @Test(arguments: StoreKind.all) func retriesAreTakenWhenTheyAreDue(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message, message)
            func retry(_ row: Int64, after pause: Duration) -> MessageChange {
                .change(row, of: key, .retry(after: pause, failure: .failed, firstStart: nil), attempts: 1)
            }
            try await store.change(retry(rows[0], after: .seconds(600)), retry(rows[1], after: .milliseconds(200)))
            #expect(try await store.answer(.paused(after: 0), of: key).messages.map(\.sequence) == rows)
            #expect(try await store.ledger().waiting == 2)
            var answer = try await store.answer(.retries, of: key)
            while answer.messages.isEmpty {
                #expect(answer.nextRetry.map { $0 <= .milliseconds(200) } ?? false)
                answer = try await store.answer(.retries, of: key)
            }
            #expect(answer.messages.map(\.sequence) == [rows[1]])
            #expect(answer.messages.map(\.attempts) == [1])
            #expect(answer.nextRetry.map { $0 > .seconds(500) } ?? false)
            #expect(try await store.answer(.retries, of: key).messages == [])
        }
    }

    @Test(arguments: StoreKind.all) func whatWasSetAsideBelongsToNoSource(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let row = try await store.receive(TestMessage(TestLink(installation: key)))[0]
            try await store.change(.change(row, of: key, .setAside))
            #expect(try await store.answer(.source(TestMessage.source(), before: nil), of: key).messages == [])
            #expect(try await store.answer(.unsettled(after: 0), of: key).messages.map(\.sequence) == [row])
            #expect(try await store.answer(.row(row), of: key).messages.map(\.sequence) == [row])
            #expect(try await store.answer(.row(row), of: key).messages == [])
        }
    }

    @Test(arguments: StoreKind.all) func whatIsOpenedAfterItsEndIsKnownStill(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let link = TestLink(installation: key)
            let message = TestMessage(link)
            let row = try await store.receive(message)[0]
            link.candidate.withLock { $0 = row }
            try await store.change(.change(row, of: key, .done(.newData), attempts: 1))
            #expect(try await store.read { $0.pendingBytes } == 0)
            let stored = StoredMessage.push(row, installation: key).with { $0.topic = "" }
            let opened = try await store.change(.change(row, of: key, .opened(stored, by: .open)))
            #expect(opened.appeared == [.init(sequence: row, installation: key, source: TestMessage.source())])
            let again = try await store.commit { Turn(arrivals: [message.with { $0.duplicate = true }.arrival]) }
            #expect(again.arrivals == [.redelivered(row, isFinal: kind.isDurable, isInHand: false)])
            #expect(try await store.answer(.row(row), of: key).messages.map(\.openedBy) == [.open])
        }
    }

    /// A message in state `inHand` keeps its state.
    @Test(arguments: StoreKind.all) func whatTheUserDoesMovesWhatIsShown(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message, message, message)
            try await store.change(
                .change(rows[0], of: key, .presented), .change(rows[1], of: key, .presented))
            let shown: [StoredMessage] = try await store.ask {
                $0.presented(installation: key, after: 0, limit: 10, completion: $1)
            }
            #expect(shown.map(\.sequence) == [rows[0], rows[1]])
            let outcome = try await store.change(
                .change(rows[0], of: key, .unopened), .change(rows[1], of: key, .unpresented),
                .change(rows[2], of: key, .unpresented))
            #expect(outcome.appeared.map(\.sequence) == [rows[1]])
            let ledger = try await store.ledger()
            #expect([ledger.done, ledger.waiting, ledger.running, ledger.presented] == [1, 1, 1, 0])
        }
    }

    @Test(arguments: StoreKind.all) func changesOfOneMessageComeInOrder(_ kind: StoreKind) async throws {
        try await withStorePlace(kind) { place in
            let store = try await place.open()
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key))
            let rows = try await store.receive(message, message)
            try await store.change(
                .change(rows[0], of: key, .again(after: 600, .failed), attempts: 1),
                .change(rows[1], of: key, .done(.noData)), .change(rows[0], of: key, .done(.newData), attempts: 2))
            let ledger = try await store.ledger()
            #expect([ledger.done, ledger.waiting] == [2, 0])
            try await store.change(.change(rows[1] + 1, of: key, .done(.newData)))
            #expect(try await store.ledger() == ledger)
        }
    }
}
