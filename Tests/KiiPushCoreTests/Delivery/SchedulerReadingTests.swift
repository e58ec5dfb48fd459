import Testing

@testable import KiiPushCore

@Suite struct SchedulerReadingTests {
    private static let done = HandlerVerdict.result(.newData)

    private func source(_ name: String = "a", installation: Int64 = 1) throws -> SourceID {
        try #require(StoredMessage.push(0, source: name, installation: installation).sourceID)
    }

    // MARK: - The start of an agent

    @Test func whatTheStoreHoldsIsReadBeforeAnythingIsTakenInHand() throws {
        let scheduler = TestScheduler()
        scheduler.rows.insert(.push(1).with { $0.source = nil })
        scheduler.rows.insert(.push(2), .retry(at: .seconds(0)))
        scheduler.rows.insert(.push(3), .inHand)
        scheduler.rows.insert(.push(4))
        scheduler.attach()
        let (source, other) = (try self.source(), try self.source("b"))
        #expect(!scheduler.admit(other))
        scheduler.turn(at: 0)
        #expect(
            scheduler.asked.map(\.kind) == [
                .unsettled(after: 0), .suspects(after: 0), .retries, .sources(after: nil),
                .source(source.number, before: nil),
            ])
        #expect(scheduler.changes().first == .change(1, .back()))
        #expect(scheduler.admit(other))
        #expect(scheduler.run(at: 0) == [3, 1, 2, 4])
    }

    @Test func whatCannotBeDecodedAnyMoreIsADeadLetter() {
        let scheduler = TestScheduler.open()
        let source = StoredMessage.push(1).source
        scheduler.store([.of("{not json", 1).with { $0.source = source }, .push(2)])
        #expect(scheduler.run(at: 0) == [2])
        #expect(scheduler.rows[1] == .dead)
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func theNextRetryIsLookedForWhenItIsDue() {
        let scheduler = TestScheduler()
        scheduler.rows.insert(.push(1).with { $0.attempts = 1 }, .retry(at: .seconds(7)))
        scheduler.attach()
        scheduler.turn(at: 0)
        #expect(scheduler.nextDeadline == .seconds(7))
        let count = scheduler.asked.count
        scheduler.turn(at: 6.9)
        #expect(scheduler.asked.count == count)
        #expect(scheduler.start(at: 7)?.attempt == 2)
    }

    @Test func whatHoldsItsSourceBackIsKnownInHoweverManySources() {
        let scheduler = TestScheduler { $0.isStrictlyOrdered = true }
        let last = Int64(Scheduler.mostSources) + 1
        for number in 1...last {
            scheduler.rows.insert(.push(number).with { $0.source = number }, .retry(at: .seconds(60)))
        }
        scheduler.attach()
        scheduler.turn(at: 0)
        #expect(scheduler.places.count == last)
    }

    @Test func moreSourcesThanMayBeKnownAreAllHandled() {
        let scheduler = TestScheduler { $0.messagesInMemory = 100_000 }
        func message(_ number: Int64) -> StoredMessage {
            .push(number).with { $0.source = number }
        }
        for number in Int64(1)...10_050 { scheduler.rows.insert(message(number)) }
        scheduler.attach()
        scheduler.turn(at: 0)
        #expect(scheduler.memoryWeight == Scheduler.mostSources)
        // Message 20001 comes from another source while the scheduler cannot list all sources.
        scheduler.receive([message(20_001)])
        let numbers = Set(scheduler.run(at: 0))
        #expect(numbers == Set<Int64>(1...10_050).union([20_001]))
        #expect(scheduler.rows.unfinished == [])
        scheduler.receive([message(20_002)])
        scheduler.turn(at: 0)
        #expect(scheduler.rows[20_002] == .inHand)
    }

    /// Each installation listed its sources while there was room for them.
    @Test func installationsWithMoreSourcesThanMayBeKnownAreAllHandled() {
        let scheduler = TestScheduler { $0.messagesInMemory = 100_000 }
        let all = Int64(1)...11_000
        for number in all {
            scheduler.rows.insert(
                .push(number).with {
                    $0.installation = number % 11
                    $0.source = number
                })
        }
        for installation in Int64(0)...10 { scheduler.attach(installation) }
        scheduler.turn(at: 0)
        #expect(scheduler.memoryWeight == Scheduler.mostSources)
        #expect(Set(scheduler.run(at: 0)).count == all.count)
        #expect(scheduler.rows.unfinished.count == 0)
    }

    @Test func installationsThatBeginTogetherShareATurn() {
        let scheduler = TestScheduler()
        scheduler.holdsCommits = true
        for number in Int64(1)...200 { scheduler.attach(number) }
        scheduler.turn(at: 0)
        #expect(scheduler.claims.count > 50)
        #expect(scheduler.memoryWeight == 1000)
    }

    // MARK: - Memory

    @Test func whatIsReceivedGoesBehindTheRowsOfItsSource() {
        let scheduler = TestScheduler.open { $0.messagesInMemory = 16 }
        scheduler.receive((1...20).map { .push($0) })
        scheduler.turn(at: 0)
        #expect(scheduler.memoryWeight == 8)
        #expect(scheduler.rows[8] == .inHand)
        #expect(scheduler.rows[9] == .waiting)
        scheduler.receive(21)
        scheduler.receive(22, of: "b")
        scheduler.turn(at: 0)
        #expect(scheduler.rows[21] == .waiting)
        #expect(scheduler.rows[22] == .inHand)
        let order = scheduler.run(at: 0)
        #expect(order.filter { $0 < 22 } == Array(1...21))
        #expect(order.count == 22)
        // After the whole backlog is read, new messages go straight into memory again.
        scheduler.receive(23)
        scheduler.turn(at: 0)
        #expect(scheduler.rows[23] == .inHand)
    }

    @Test func noMoreThanSoManyBytesAreInMemory() throws {
        // The limit allows 100 messages of 10,000 bytes.
        let scheduler = TestScheduler.open {
            $0.messagesInMemory = 100
            $0.bytesInMemory = 1_000_000
        }
        // The weights are 1, 2 and 10, and 25 for each larger message, which is the maximum.
        let sizes = [9_999, 10_000, 95_000, 900_000, 500_000, 500_000, 500_000, 1]
        let admitted = sizes.enumerated().map { index, bytes in
            scheduler.admit(SourceID(installation: 1, number: Int64(index)), bytes: bytes)
        }
        #expect(admitted == [true, true, true, true, true, true, false, true])
        #expect(scheduler.memoryWeight == 89)
        scheduler.turn(at: 0)
        let claim = try #require(scheduler.asked.last)
        #expect(claim.kind == .source(6, before: nil))
        #expect(claim.limit == 11)
        #expect([500_000, 1].map(claim.scale.weight(of:)) == [25, 1])
    }

    @Test func failedMessagesTakeNoMemoryWhileTheyWait() {
        let scheduler = TestScheduler.open { $0.messagesInMemory = 10 }
        scheduler.receive((1...10).map { .push($0, source: "\($0)") })
        #expect(scheduler.run(at: 0, .result(.failed)).sorted() == Array(1...10))
        #expect(scheduler.memoryWeight == 0)
        #expect(scheduler.run(at: 1).sorted() == Array(1...10))
    }

    /// Two sources with slow handlers have filled memory, and a third source has a message in the store.
    private func crowded() throws -> (TestScheduler, [TestCall]) {
        let scheduler = TestScheduler.open { $0.messagesInMemory = 16 }
        scheduler.scheduler.batch = 1
        scheduler.receive((1...8).map { .push($0) })
        scheduler.receive((9...16).map { .push($0, source: "b") })
        let calls = [try #require(scheduler.start(at: 0)), try #require(scheduler.start(at: 0))]
        scheduler.receive(17, of: "c")
        #expect(scheduler.start(at: 0) == nil)
        #expect(scheduler.rows[17] == .waiting)
        return (scheduler, calls)
    }

    @Test func sourcesShareMemoryThatHasBeenFullForATenthOfASecond() throws {
        let (scheduler, calls) = try self.crowded()
        #expect(scheduler.nextDeadline == .seconds(0.1))
        scheduler.turn(at: 0.1)
        // The last messages of each source leave memory first.
        let back = scheduler.changes().map(\.sequence)
        #expect(back.filter { $0 < 9 } == [8, 7, 6, 5])
        #expect(back.filter { $0 > 8 } == [16, 15, 14, 13])
        #expect(scheduler.rows[4] == .inHand)
        #expect(scheduler.start(at: 0.1)?.sequence == 17)
        for call in calls { scheduler.answer(call, Self.done, at: 0.1) }
        let order = scheduler.run(at: 0.1)
        #expect(order.filter { $0 < 9 } == Array(2...8))
        #expect(order.filter { $0 > 8 } == Array(10...16))
    }

    @Test func aSourceThatFillsMemoryKeepsItWhileThereIsNothingElseToRead() {
        let scheduler = TestScheduler.open { $0.messagesInMemory = 16 }
        scheduler.receive((1...8).map { .push($0) })
        scheduler.receive((9...16).map { .push($0, source: "b") })
        scheduler.turn(at: 0)
        #expect(scheduler.memoryWeight == 16)
        #expect(scheduler.nextDeadline == .seconds(30))
    }

    // MARK: - Reads that fail

    @Test func aReadThatFailsIsRepeatedASecondLater() {
        let scheduler = TestScheduler()
        scheduler.rows.insert(.push(1))
        scheduler.failsReads = true
        scheduler.attach()
        #expect(scheduler.run(at: 0) == [])
        #expect(scheduler.asked.map(\.kind) == [.unsettled(after: 0)])
        #expect(scheduler.nextDeadline == .seconds(1))
        scheduler.failsReads = false
        #expect(scheduler.run(at: 1) == [1])
    }

    @Test func aSourceThatCannotBeReadIsReadASecondLater() {
        let scheduler = TestScheduler.open()
        scheduler.failsReads = true
        scheduler.store([.push(1)])
        let count = scheduler.asked.count
        #expect(scheduler.run(at: 0.5) == [])
        #expect(scheduler.asked.count == count + 1)
        #expect(scheduler.memoryWeight == 0)
        scheduler.failsReads = false
        #expect(scheduler.run(at: 1) == [])
        #expect(scheduler.run(at: 1.5) == [1])
    }

    @Test func aMessageThatCannotBeReadIsReadASecondLater() {
        let scheduler = TestScheduler.open()
        scheduler.failsReads = true
        scheduler.store([.push(1)], goesFirst: true)
        scheduler.turn(at: 0.5)
        #expect(scheduler.asked.count { $0.kind == .row(1) } == 1)
        scheduler.failsReads = false
        #expect(scheduler.run(at: 1.5) == [1])
    }

    // MARK: - Messages that leave memory

    @Test func oneInstallationsBacklogLeavesOthersAlone() throws {
        let scheduler = TestScheduler.open(installations: [1, 2])
        scheduler.store([.push(1)])
        let sources = [
            try self.source(), try self.source("b"), try self.source(installation: 2), try self.source(installation: 3),
        ]
        #expect(sources.map { scheduler.admit($0) } == [false, true, true, false])
    }

    @Test func drainingGivesBackWhatHasNotStarted() throws {
        let scheduler = TestScheduler.open()
        scheduler.receive(1, 2, 3)
        let call = try #require(scheduler.start(at: 0))
        scheduler.drain()
        scheduler.turn(at: 0)
        // Message 3 goes first: messages in memory start before waiting ones, so a commit that stops halfway keeps the
        // order.
        #expect(scheduler.changes() == [.change(3, .back()), .change(2, .back())])
        #expect(!scheduler.isIdle)
        scheduler.receive(4)
        scheduler.turn(at: 0)
        #expect(scheduler.rows[4] == .waiting)
        scheduler.answer(call, .result(.failed), at: 1)
        #expect(scheduler.changes() == [.change(1, .again(after: 1, .failed), attempts: 1)])
        #expect(scheduler.isIdle)
        #expect(scheduler.memoryWeight == 0)
        #expect(scheduler.start(at: 9) == nil)
    }

    @Test func detachingGivesBackOneInstallationsMessages() throws {
        let scheduler = TestScheduler.open(installations: [1, 2])
        scheduler.receive([.push(1), .push(2), .push(3, installation: 2)])
        let call = try #require(scheduler.start(at: 0))
        scheduler.detach()
        scheduler.turn(at: 0)
        #expect(scheduler.changes() == [.change(2, .back())])
        #expect(scheduler.run(at: 0) == [3])
        _ = scheduler.changes()
        // The new agent reads the rows, and does not suspect the message whose call is still running.
        scheduler.attach()
        #expect(scheduler.start(at: 1) == nil)
        scheduler.answer(call, Self.done, at: 1)
        #expect(scheduler.changes() == [.change(1, .done(.newData), attempts: 1)])
        #expect(scheduler.run(at: 1) == [2])
    }

    private func asking() throws -> (Scheduler, StoreClaim) {
        var scheduler = Scheduler()
        scheduler.attached(1, takesCommands: false)
        var claims = SchedulerReadingTests.claims(&scheduler)
        while let claim = claims.first {
            scheduler.claimed(claim, StoreAnswer())
            claims = SchedulerReadingTests.claims(&scheduler)
        }
        scheduler.appeared(1, source: try self.source().number, installation: 1, goesFirst: false)
        claims = SchedulerReadingTests.claims(&scheduler)
        return (scheduler, try #require(claims.first))
    }

    private static func claims(_ scheduler: inout Scheduler) -> [StoreClaim] {
        scheduler.settle(at: .seconds(0))
        return scheduler.takeOutput().claims
    }

    @Test(arguments: [true, false])
    func whatComesForAnAgentThatHasStoppedWaitsAgain(isAnotherThere: Bool) throws {
        let (asking, claim) = try self.asking()
        var scheduler = asking
        scheduler.detached(1)
        if isAnotherThere { scheduler.attached(1, takesCommands: false) }
        var answer = StoreAnswer()
        answer.messages = [.push(1)]
        scheduler.claimed(claim, answer)
        let changes = scheduler.takeOutput().changes.map(\.untimed)
        #expect(changes == [.change(1, .back())])
        #expect(scheduler.memoryWeight == 0)
    }

    @Test func whatComesAfterTheDrainWaitsAgain() throws {
        let (asking, claim) = try self.asking()
        var scheduler = asking
        let isAdmitted = scheduler.admit(try self.source("b"), bytes: 0)
        #expect(isAdmitted)
        scheduler.drain()
        var answer = StoreAnswer()
        answer.messages = [.push(1)]
        scheduler.claimed(claim, answer)
        let arrived = StoredMessage.push(2, source: "b")
        scheduler.stored(QueuedMessage(arrived, DecodedContent(arrived)))
        let changes = scheduler.takeOutput().changes.map(\.untimed)
        #expect(changes == [.change(1, .back()), .change(2, .back(to: "b"))])
        #expect(scheduler.memoryWeight == 0)
    }
}
