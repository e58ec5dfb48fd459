import KiiPushCore
import TestSupport

/// One scenario being played: its bench, its receiver under observation, and what has been sent.
package struct Play {
    let bench: FaultBench
    let kind: ReceiverKind
    var observation: Observation
    var random: SeededGenerator
    /// By number, how many messages the broker has acknowledged to their sender.
    private(set) var sent: [Int: Int] = [:]
    /// Dead letters that have no number.
    var expectedDeadLetters = 0
    var brokerWasKilled = false
    /// What was asked for and did not happen.
    private(set) var problems: [String] = []
    private let started = MonotonicInstant.now()

    init(bench: FaultBench, kind: ReceiverKind) {
        self.bench = bench
        self.kind = kind
        self.observation = Observation(kind.make(bench), patience: kind.patience)
        self.random = SeededGenerator(seed: bench.seed)
    }

    var receiver: any Receiver { self.observation.receiver }
    var proxy: FaultProxy { self.bench.proxy }
    var traffic: Traffic { self.bench.proxy.traffic }

    /// Sends a push for each number over the REST API.
    mutating func send(_ numbers: some Sequence<Int> & Sendable) async throws {
        for number in try await self.bench.send(numbers) { self.sent[number, default: 0] += 1 }
    }

    /// Publishes `{"n":number}` for each number, as often as it is named, in bytes that are equal.
    mutating func publish(_ numbers: some Sequence<Int> & Sendable, padding: Int = 0) async throws {
        let tail = padding == 0 ? "" : ",\"p\":\"\(String(repeating: "x", count: padding))\""
        try await self.publish(numbers.map { ($0, Array("{\"n\":\($0)\(tail)}".utf8)) })
    }

    /// Publishes payloads as they are; those with a number are to be handled.
    mutating func publish(_ messages: [(number: Int?, payload: [UInt8])]) async throws {
        guard await self.bench.publish(messages.map(\.payload)) else { throw FaultError("the broker took no messages") }
        for case (let number?, _) in messages { self.sent[number, default: 0] += 1 }
    }

    /// Notes a problem unless `isTrue`.
    mutating func expect(_ isTrue: Bool, _ problem: String) {
        if !isTrue { self.problems.append(problem) }
    }

    /// As ``finish()``, where messages may be gone, for which nobody could wait: a last one, which is not counted, follows
    /// all that is still to come.
    mutating func finishAfterLast() async throws {
        let (last, patience) = ((self.sent.keys.max() ?? 0) + 1, self.observation.patience)
        self.observation.patience = .seconds(1)
        var (isHandled, lines) = (false, -1)
        var giveUpAt = MonotonicInstant.now() + patience
        while !isHandled, MonotonicInstant.now() < giveUpAt {
            // One that is sent while the broker knows no session is gone too, so there may have to be another.
            _ = try await self.bench.send([last])
            isHandled = try await self.observation.wait { $0.endings[last] != nil }
            if self.observation.log.begunCount != lines { giveUpAt = .now() + patience }
            lines = self.observation.log.begunCount
        }
        self.observation.patience = patience
        self.expect(isHandled, "the last message was not handled")
        try await self.settle(isHandled)
    }

    /// Waits until every message is handled or a dead letter, and stored as that; then ends the receiver.
    mutating func finish() async throws {
        // Others may have lost some.
        guard self.kind.isOurs else { return try await self.finishAfterLast() }
        try await self.settle(try await self.waitUntilAccounted())
    }

    private mutating func settle(_ isReached: Bool) async throws {
        guard self.receiver.isRunning else {
            throw FaultError("\(self.kind.name) ended by itself: \(self.receiver.process.lastWords)")
        }
        if isReached, self.kind.isOurs {
            let state = self.bench.state
            let isSettled = try await self.observation.wait { _ in try InboxReading(state: state).open == 0 }
            self.expect(isSettled, "messages are left that are neither done nor dead")
        }
        await self.receiver.kill()
    }

    /// Waits until every message is handled or a dead letter; `false` when the receiver ended or nothing happens.
    mutating func waitUntilAccounted() async throws -> Bool {
        let (sent, state, isOurs) = (self.sent, self.bench.state, self.kind.isOurs)
        let (total, expectedDead) = (sent.values.reduce(0, +), self.expectedDeadLetters)
        var inbox: InboxReading?
        var dead: Set<Int> = []
        var looks = 0
        return try await self.observation.wait { log in
            // Dead letters leave no line in the log, so the inbox is looked at now and then.
            if isOurs, looks % 50 == 0 {
                let former = inbox
                inbox = try InboxReading(state: state, after: former)
                if inbox?.deadLetters.count != former?.deadLetters.count { dead = inbox?.deadNumbers ?? [] }
            }
            looks += 1
            guard log.endedCount + dead.count >= total, inbox?.deadLetters.count ?? 0 >= expectedDead else {
                return false
            }
            var tally = Tally(sent: sent, log: log, traffic: Traffic())
            tally.dead = dead
            return tally.missing.isEmpty
        }
    }

    /// Holds the ledger of our inbox against its rows; the receiver may be running, or dead.
    mutating func auditLedger() throws {
        guard self.kind.isOurs else { return }
        do {
            self.problems += try LedgerAudit.problems(inStateDirectory: self.bench.state)
        } catch InboxReadingError.missing {
            // The inbox is in memory.
        }
    }

    /// Counts, and checks what holds in every scenario.
    mutating func outcome(_ scenario: String, faults: String) throws -> Outcome {
        try self.auditLedger()
        let inbox = self.kind.isOurs ? try InboxReading(state: self.bench.state) : nil
        var tally = Tally(sent: self.sent, log: self.observation.log, traffic: self.traffic)
        tally.dead = inbox?.deadNumbers ?? []
        tally.brokerWasKilled = self.brokerWasKilled
        var outcome = Outcome(
            scenario: scenario, receiver: self.kind.name,
            messages: self.sent.values.reduce(0, +) + self.expectedDeadLetters, faults: faults)
        outcome.lost = tally.lost
        outcome.lostByBroker = tally.lostByBroker
        outcome.duplicates = tally.duplicates
        outcome.deadLetters = inbox?.deadLetters.count ?? 0
        outcome.duration = .now() - self.started
        outcome.problems = self.problems
        if self.kind.isOurs, tally.traffic.acknowledgedOutOfOrder > 0 {
            outcome.problems.append("\(tally.traffic.acknowledgedOutOfOrder) acknowledgements out of order")
        }
        if !self.brokerWasKilled, let agent = self.receiver as? AgentReceiver, agent.told.contains("sessionLost") {
            outcome.problems.append("the broker lost the session, or the agent did")
        }
        return outcome
    }
}
