import KiiPushCore
import SeededNumbers
import TestSupport

/// A running scenario: its bench, its observed receiver, and the messages sent.
package struct Play {
    let bench: FaultBench
    let kind: ReceiverKind
    var observation: Observation
    var random: SeededGenerator
    /// Number of messages that the broker acknowledged to their sender, by message number.
    private(set) var sent: [Int: Int] = [:]
    /// Messages that have to become dead letters.
    var expectedDead: Set<Int> = []
    /// Expected dead letters without a number.
    var expectedDeadLetters = 0
    /// Number of messages that the inbox's ledger reports as lost with a damaged file.
    var toldAsLost = 0
    var brokerWasKilled = false
    private(set) var problems: [String] = []
    private var lastSerial = 0
    /// Number of probe messages so far.
    var probes = 0
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
        let accepted = try await self.bench.send(numbers)
        for number in accepted { self.sent[number, default: 0] += 1 }
        let refused = numbers.count { !accepted.contains($0) }
        self.expect(self.brokerWasKilled || refused == 0, "the broker did not accept \(refused) messages")
    }

    /// Publishes a message for each number. Messages with the same number have equal bytes for the receiver.
    mutating func publish(_ numbers: some Sequence<Int> & Sendable, padding: Int = 0) async throws {
        let tail = padding == 0 ? "" : ",\"p\":\"\(String(repeating: "x", count: padding))\""
        let messages = numbers.enumerated().map { (index, number) -> (number: Int?, payload: [UInt8]) in
            (number, MessageSerial.payload(self.lastSerial + 1 + index, "\"n\":\(number)\(tail)"))
        }
        self.lastSerial += messages.count
        try await self.publish(messages)
    }

    /// Publishes payloads unchanged. An agent has to handle each payload that has a number.
    mutating func publish(_ messages: [(number: Int?, payload: [UInt8])], on topic: String? = nil) async throws {
        guard await self.bench.publish(messages.map(\.payload), on: topic) else {
            throw FaultError("the broker took no messages")
        }
        for case (let number?, _) in messages { self.sent[number, default: 0] += 1 }
    }

    mutating func expect(_ isTrue: Bool, _ problem: String) {
        if !isTrue { self.problems.append(problem) }
    }

    /// Compares the ledger of the inbox with its rows. The receiver may be running or dead.
    ///
    /// - Parameter state: the state directory; `nil` for the receiving user's.
    mutating func auditLedger(in state: String? = nil) throws {
        guard self.kind.isOurs else { return }
        do {
            self.problems += try LedgerAudit.problems(inStateDirectory: state ?? self.bench.state)
        } catch InboxAccessError.missing {
            // The inbox is in memory.
        }
    }

    /// Counts the results, and checks the promises of every scenario.
    mutating func outcome(_ scenario: String, faults: String) throws -> Outcome {
        try self.auditLedger()
        let inbox = self.kind.isOurs ? try InboxReading(state: self.bench.state) : nil
        var tally = Tally(sent: self.sent, log: self.observation.log, traffic: self.traffic)
        tally.dead = inbox?.dead ?? DeadLetters()
        tally.serials = try InboxReading.serials(of: self.sent, state: self.bench.state, in: self.traffic)
        tally.brokerWasKilled = self.brokerWasKilled
        var outcome = Outcome(
            scenario: scenario, receiver: self.kind.name,
            messages: self.sent.values.reduce(0, +) + self.expectedDeadLetters, faults: faults)
        // A reported loss does not count, because its user can react.
        outcome.lost = max(0, tally.lost - self.toldAsLost)
        outcome.lostByBroker = tally.lostByBroker
        outcome.duplicates = tally.duplicates
        outcome.deadLetters = inbox?.deadLetters.count ?? 0
        outcome.duration = .now() - self.started
        outcome.problems = self.problems
        if self.kind.isOurs {
            outcome.problems += tally.dead.problems(
                expecting: self.expectedDead, withoutNumber: self.expectedDeadLetters)
        }
        if self.kind.isOurs, tally.traffic.acknowledgedOutOfOrder > 0 {
            outcome.problems.append("\(tally.traffic.acknowledgedOutOfOrder) acknowledgements out of order")
        }
        if self.kind.isOurs, tally.traffic.strayAcknowledgements > 0 {
            outcome.problems.append("\(tally.traffic.strayAcknowledgements) acknowledgements of nothing")
        }
        if !self.brokerWasKilled, let agent = self.receiver as? AgentReceiver, agent.told.contains("session lost") {
            outcome.problems.append("the broker lost the session, or the agent did")
        }
        return outcome
    }
}
