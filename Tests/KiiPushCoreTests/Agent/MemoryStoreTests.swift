import Testing

@testable import KiiPushCore

/// The store without a file, called as the pipeline does.
@Suite struct MemoryStoreTests {
    private func arrival(
        _ link: TestLink, source: String = "a", topic: String? = nil, duplicate: Bool = false,
        truncatedLength: Int? = nil, isInHand: Bool = true
    ) -> Arrival {
        let message = MQTTSession.InboundMessage(
            topic: topic ?? link.topic, payload: [UInt8](TestPipeline.push(source).utf8), qos: .atLeastOnce,
            duplicate: duplicate, packetID: 5, ticket: 1, truncatedLength: truncatedLength)
        var arrival = Arrival(link: link, message: message, connection: 100, receivedAt: .now())
        arrival.isInHand = isInHand
        return arrival
    }

    private func commit(_ turn: Turn, to store: MemoryStore) -> TurnOutcome {
        var outcome = TurnOutcome()
        store.commit(turn) { result in
            if case .success(let success) = result { outcome = success }
        }
        return outcome
    }

    private func answer(_ kind: StoreClaim.Kind, limit: Int = 100, of store: MemoryStore) -> StoreAnswer {
        let claim = StoreClaim(installation: 1, kind: kind, limit: limit)
        return self.commit(Turn(claims: [claim]), to: store).answers.first ?? StoreAnswer()
    }

    private var source: Int64 { StoredMessage.push(0).source ?? 0 }

    @Test func whatIsProvenIsForgottenOfOneInstallationAlone() {
        let store = MemoryStore()
        let arrivals = [1, 2, 1, 2].map { self.arrival(TestLink(installation: $0)) }
        _ = self.commit(Turn(arrivals: arrivals), to: store)
        /// How many rows of each installation may be repeated by its broker.
        func counts() -> [Int] { [1, 2].map { store.unproven(installation: $0).count } }
        var all = [counts()]
        let done = [2, 3, 1].map { sequence in
            MessageChange(
                sequence: sequence, installation: (sequence + 1) % 2 + 1, verdict: .done(.newData), attempts: 1)
        }
        _ = self.commit(Turn(changes: done), to: store)
        for (installation, sequence) in [(1, 2), (2, 4), (1, 2), (1, 3)] as [(Int64, Int64)] {
            store.proven(installation: installation, through: sequence)
            all.append(counts())
        }
        #expect(all == [[2, 2], [1, 2], [1, 0], [1, 0], [0, 0]])
    }

    @Test func whatIsInDoubtCountsAgainWhenTheSessionIsTheSame() {
        let store = MemoryStore()
        _ = self.commit(Turn(arrivals: [1, 1, 2].map { self.arrival(TestLink(installation: $0)) }), to: store)
        func rows(_ installation: Int64) -> [Int64] { store.unproven(installation: installation).map(\.sequence) }
        store.doubt(installation: 1, through: 1)
        #expect(rows(1) == [2])
        #expect(rows(2) == [3])
        store.proven(installation: 1, through: 0)
        #expect(rows(1) == [1, 2])
    }

    @Test func topicsAreTheSameWhenTheirBytesAre() {
        let store = MemoryStore()
        // Equal to Swift.
        let (topic, other) = ("caf\u{e9}", "cafe\u{301}")
        let link = TestLink(topic: topic)
        link.candidate.withLock { $0 = 1 }
        /// Whether it is new, and if so whether its topic is another than the link's.
        func outcome(of arrival: Arrival) -> [Bool] {
            guard case .new? = self.commit(Turn(arrivals: [arrival]), to: store).arrivals.first else { return [false] }
            if case .refused(.unexpectedTopic) = arrival.content { return [true, true] }
            return [true, false]
        }
        let outcomes = [
            outcome(of: self.arrival(link)),
            outcome(of: self.arrival(link, topic: other, duplicate: true)),
            outcome(of: self.arrival(link, duplicate: true, truncatedLength: 9)),
            outcome(of: self.arrival(link, duplicate: true)),
        ]
        #expect(outcomes == [[true, false], [true, true], [true, false], [false]])
    }

    @Test func aSourceIsClaimedInOrderAsFarAsThereIsRoom() {
        let store = MemoryStore()
        let link = TestLink()
        let arrivals = (0..<5).map { _ in self.arrival(link, isInHand: false) }
        _ = self.commit(Turn(arrivals: arrivals + [self.arrival(link, source: "b", isInHand: false)]), to: store)
        #expect(self.answer(.sources(after: nil), of: store).sources.count == 2)
        let first = self.answer(.source(self.source, before: nil), limit: 2, of: store)
        #expect(first.messages.map(\.sequence) == [1, 2])
        #expect(!first.isComplete)
        // What is given back comes before what came after it.
        _ = self.commit(Turn(changes: [.change(1, .back())]), to: store)
        #expect(self.answer(.source(self.source, before: 4), of: store).messages.map(\.sequence) == [1, 3])
        let last = self.answer(.source(self.source, before: nil), of: store)
        #expect(last.messages.map(\.sequence) == [4, 5])
        #expect(last.isComplete)
        #expect(self.answer(.suspects(after: 0), of: store).messages == [])
    }

    @Test func retriesAreTakenWhenTheyAreDue() {
        let clock = TestClock()
        let store = MemoryStore(clocks: Clocks(monotonic: { clock.now }, calendarNanoseconds: { 0 }))
        let link = TestLink()
        _ = self.commit(Turn(arrivals: [self.arrival(link), self.arrival(link)]), to: store)
        let retries: [MessageChange] = [
            .change(1, .retry(after: .seconds(5), failure: .failed, firstStart: .seconds(1)), attempts: 1),
            .change(2, .again(after: 1, .failed), attempts: 1),
        ]
        _ = self.commit(Turn(changes: retries), to: store)
        let early = self.answer(.retries, of: store)
        #expect(early.messages == [])
        #expect(early.nextRetry == .seconds(1))
        #expect(self.answer(.paused(after: 0), of: store).messages.map(\.sequence) == [1, 2])
        clock.advance(.seconds(1))
        let second = self.answer(.retries, of: store)
        #expect(second.messages.map(\.sequence) == [2])
        #expect(second.nextRetry == .seconds(4))
        clock.advance(.seconds(4))
        let first = self.answer(.retries, of: store)
        #expect(first.messages.map(\.attempts) == [1])
        #expect(first.messages.map(\.firstStart) == [.seconds(1)])
        #expect(first.nextRetry == nil)
    }

    @Test func whatWasSetAsideBelongsToNoSource() {
        let store = MemoryStore()
        _ = self.commit(Turn(arrivals: [self.arrival(TestLink())]), to: store)
        _ = self.commit(Turn(changes: [.change(1, .setAside)]), to: store)
        #expect(self.answer(.source(self.source, before: nil), of: store).messages == [])
        #expect(self.answer(.unsettled(after: 0), of: store).messages.map(\.sequence) == [1])
        // A person may have it tried again.
        #expect(self.answer(.row(1), of: store).messages.map(\.sequence) == [1])
        #expect(self.answer(.row(1), of: store).messages == [])
    }

    @Test func whatIsOpenedAfterItsEndIsKnownStill() {
        let store = MemoryStore()
        let link = TestLink()
        link.candidate.withLock { $0 = 1 }
        _ = self.commit(Turn(arrivals: [self.arrival(link)]), to: store)
        _ = self.commit(Turn(changes: [.change(1, .done(.newData), attempts: 1)]), to: store)
        #expect(store.pendingBytes == 0)
        let opening = DeliveryOpening(.push(1).with { $0.topic = "" }, action: .open)
        let opened = self.commit(Turn(changes: [.change(1, .opened(opening))]), to: store)
        #expect(opened.appeared.map(\.sequence) == [1])
        #expect(opened.appeared.map(\.source) == [self.source])
        let again = self.commit(Turn(arrivals: [self.arrival(link, duplicate: true)]), to: store)
        guard case .redelivered(1, let isFinal, _)? = again.arrivals.first else {
            Issue.record("it was taken for another message")
            return
        }
        #expect(!isFinal)
        #expect(self.answer(.row(1), of: store).messages.map(\.openedBy) == [.open])
    }
}
