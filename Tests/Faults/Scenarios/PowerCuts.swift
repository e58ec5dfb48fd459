import Foundation
import KiiPushCore
import TestSupport

extension Play {
    /// - Parameter step: cuts at one in this many flushes or writes.
    /// - Returns: the number of cuts for each operation.
    mutating func cutOnPurpose(step: Int, damages: [InboxDamage]) async throws -> String {
        let every = stride(from: 1, to: .max, by: step)
        // Only some, because a checkpoint has hundreds of writes.
        let writes = [1, 2, 3, 5, 8, 13, 21, 34]
        let some = stride(from: 0, to: writes.count, by: step).map { writes[$0] }
        let registering = try await self.cut(at: every) { try await $0.cutRegistration(atFlush: $1) }
        let stopping = try await self.cut(at: every) { try await $0.cutStop(atFlush: $1) }
        let writing = try await self.cut(at: some) { try await $0.cutCheckpoint(atWrite: $1) }
        try self.expectNoDamage()
        var replacing = 0
        for damage in damages {
            replacing += try await self.cut(at: every) { try await $0.cutReplacement(after: damage, atFlush: $1) }
        }
        let all = "registering \(registering), stopping \(stopping), writing the log \(writing), replacing \(replacing)"
        let isEach = [registering, stopping, writing, replacing].allSatisfy { $0 > 0 }
        self.expect(isEach, "not everything was cut off: \(all)")
        return all
    }

    /// Cuts at one moment after the other, until an operation ends before its cut.
    private mutating func cut(
        at moments: some Sequence<Int>, _ round: (inout Play, Int) async throws -> Bool
    ) async throws -> Int {
        var cuts = 0
        for moment in moments {
            guard try await round(&self, moment) else { break }
            guard self.problems.isEmpty else { throw Stopped() }
            cuts += 1
        }
        return cuts
    }

    /// Power cuts alone damage no inbox, because flushed data survives.
    private mutating func expectNoDamage() throws {
        let letters = try InboxReading(state: self.bench.state).deadLetters
        self.expect(letters.isEmpty, "power cuts have made \(letters.count) dead letters")
        self.expect(!self.bench.agent().told.contains("inboxMovedAside"), "a power cut has damaged an inbox")
    }

    // MARK: - Interrupted operations

    /// A new agent registers, receives its first message and answers. Once it is connected, messages for it wait at the
    /// broker, so it has to keep its identity.
    private mutating func cutRegistration(atFlush flush: Int) async throws -> Bool {
        let state = "\(self.bench.state)/registration-\(flush)"
        let agent = self.bench.agent(state: state)
        var topics: Set<String> = []
        self.observation = Observation(agent, patience: self.kind.patience)
        try self.disk.order("flush \(flush)")
        try await self.startUntilConnected(agent)
        if try !self.disk.isCut {
            let number = try await self.publish(to: state, &topics)
            try await self.waitForCut { $0.endings[number] != nil }
        }
        let isCut = try await self.endCut()
        try self.auditLedger(in: state)
        if isCut { try await self.startUntilConnected(agent) }
        let last = try await self.publish(to: state, &topics)
        self.expect(topics.count == 1, "cut at flush \(flush), the agent has become another one")
        let isHandled = try await self.observation.wait { $0.endings[last] != nil }
        self.expect(isHandled, "cut at flush \(flush) of its registration, the agent handles nothing")
        try await agent.process.stop()
        // The next rounds need the space.
        try FileManager.default.removeItem(atPath: state)
        return isCut
    }

    /// An idle agent stops.
    private mutating func cutStop(atFlush flush: Int) async throws -> Bool {
        self.observation = Observation(self.bench.agent(), patience: self.kind.patience)
        try self.receiver.start()
        try await self.publish(self.next(5))
        try await self.waitForAll()
        try self.disk.order("flush \(flush)")
        let process = self.receiver.process
        process.signalStop()
        try await self.waitForCut { _ in !process.isRunning }
        return try await self.endCut()
    }

    /// An agent writes its log into the inbox file (a checkpoint). At no other time does it write to that file.
    private mutating func cutCheckpoint(atWrite write: Int) async throws -> Bool {
        var settings = AgentReceiver.Settings()
        settings.work = WorkTime(microseconds: 0...200)
        self.observation = Observation(self.bench.agent(settings), patience: self.kind.patience)
        let blocks = try FileBlocks.ranges(of: "\(self.bench.state)/inbox.sqlite")
        try self.receiver.start()
        try self.disk.order("write \(write)" + blocks.map { " \($0.lowerBound) \($0.upperBound)" }.joined())
        let numbers = self.next(200)
        try await self.publish(numbers, padding: 8000)
        try await self.waitForCut { log in numbers.allSatisfy { log.endings[$0] != nil } }
        let isCut = try await self.endCut()
        if isCut { try self.receiver.start() }
        try await self.waitForAll()
        try await self.receiver.process.stop()
        return isCut
    }

    private mutating func cutReplacement(after damage: InboxDamage, atFlush flush: Int) async throws -> Bool {
        let (numbers, state) = (self.next(20), self.bench.state)
        try await self.leaveOpen(numbers, isKilled: false)
        try damage.apply(to: "\(state)/inbox.sqlite", at: "\"n\":\(numbers.lowerBound + 10),")
        // The flush brings the damage to the disk.
        try await self.disk.flush()
        let agent = self.bench.agent()
        self.observation = Observation(agent, patience: self.kind.patience)
        let toldBefore = agent.told.count { $0 == "inboxMovedAside" }
        try self.disk.order("flush \(flush)")
        try agent.start()
        try await self.waitForCut { _ in agent.told.count { $0 == "inboxMovedAside" } > toldBefore }
        let isCut = try await self.endCut()
        // If the cut came after the report, the agent may report again. The new file shows whether it still has to.
        let hasToTell = !isCut || Play.isUnsound(state) || Play.hasNotices(state)
        if isCut { try agent.start() }
        try await self.waitForAccounts(of: "\(damage.rawValue), cut at flush \(flush)") {
            !hasToTell || agent.told.count { $0 == "inboxMovedAside" } > toldBefore
        }
        try await agent.process.stop()
        return isCut
    }

    // MARK: - Waiting

    private var disk: PowerDisk {
        get throws {
            guard let disk = self.bench.powerDisk else { throw FaultError("this disk cannot lose its power") }
            return disk
        }
    }

    private func next(_ count: Int) -> Range<Int> { self.sent.count..<self.sent.count + count }

    private mutating func publish(to state: String, _ topics: inout Set<String>) async throws -> Int {
        let json = try JSONValue(parsing: String(contentsOfFile: "\(state)/agents/default.json", encoding: .utf8))
        guard let topic = json["endpoint"]?["mqttTopic"]?.string else { throw FaultError("\(state) has no endpoint") }
        topics.insert(topic)
        let number = self.sent.count
        try await self.publish([(number, Array("{\"n\":\(number)}".utf8))], on: topic)
        return number
    }

    /// Starts an agent and waits until it is connected, or until its disk has no power.
    private mutating func startUntilConnected(_ agent: AgentReceiver) async throws {
        let before = agent.told.count { $0 == "connected" }
        try agent.start()
        try await self.waitForCut { _ in agent.told.count { $0 == "connected" } > before }
    }

    /// Waits until the ordered cut, or until `isOver` returns `true`. Only the agent may use the disk meanwhile,
    /// because a disk without power does not answer.
    private mutating func waitForCut(unless isOver: (HandledLog) throws -> Bool) async throws {
        let disk = try self.disk
        guard try await !self.observation.wait(until: { try disk.isCut || isOver($0) }) else { return }
        self.expect(false, "the agent has ended, or does nothing: \(self.receiver.process.lastWords)")
        throw Stopped()
    }

    /// Cancels the ordered cut.
    ///
    /// - Returns: whether the power was cut. Then the agent has ended, and the disk is on again.
    private mutating func endCut() async throws -> Bool {
        try self.disk.order("never")
        guard try self.disk.isCut else { return false }
        _ = try await self.observation.kill()
        return true
    }
}
