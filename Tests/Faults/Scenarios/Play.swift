import KiiPushCore
import TestSupport

/// One scenario being played: its bench, its receiver under observation, and what has been sent.
package struct Play {
    package let bench: FaultBench
    package let kind: ReceiverKind
    package var observation: Observation
    package var sent: Set<Int> = []
    package var random: SeededGenerator
    package var brokerWasKilled = false
    package var problems: [String] = []
    private let started = MonotonicInstant.now()

    init(bench: FaultBench, kind: ReceiverKind) {
        self.bench = bench
        self.kind = kind
        self.observation = Observation(kind.make(bench), patience: kind.patience)
        self.random = SeededGenerator(seed: bench.seed)
    }

    var receiver: any Receiver { self.observation.receiver }

    /// Sends a push for each number.
    mutating func send(_ numbers: some Sequence<Int> & Sendable) async throws {
        self.sent.formUnion(try await self.bench.send(numbers))
    }

    /// Waits until every message is handled or a dead letter.
    mutating func finish() async throws {
        let sent = self.sent
        let (isOurs, state) = (self.kind.isOurs, self.bench.state)
        var dead: Set<Int> = []
        var unread = 0
        _ = try await self.observation.wait { log in
            guard log.ended.isSuperset(of: sent) == false else { return true }
            // Dead letters leave no line in the log, so the inbox is looked at now and then.
            unread += 1
            if isOurs, unread % 50 == 0 { dead = try InboxReading(state: state).deadNumbers }
            return sent.subtracting(log.ended).isSubset(of: dead)
        }
        guard self.receiver.isRunning else {
            throw FaultError("\(self.kind.name) ended by itself: \(self.receiver.process.lastWords)")
        }
        await self.receiver.kill()
    }

    /// Holds the ledger of our inbox against its rows; the receiver may be running, or dead.
    mutating func auditLedger() throws {
        guard self.kind.isOurs else { return }
        self.problems += try LedgerAudit.problems(inStateDirectory: self.bench.state)
    }

    /// Counts, and checks what holds in every scenario.
    mutating func outcome(_ scenario: String, faults: String) throws -> Outcome {
        try self.auditLedger()
        let inbox = self.kind.isOurs ? try InboxReading(state: self.bench.state) : nil
        let tally = Tally(
            sent: self.sent, log: self.observation.log, traffic: self.bench.proxy.traffic,
            dead: inbox?.deadNumbers ?? [], brokerWasKilled: self.brokerWasKilled)
        var outcome = Outcome(
            scenario: scenario, receiver: self.kind.name, messages: self.sent.count, faults: faults)
        outcome.lost = tally.lost
        outcome.lostByBroker = tally.lostByBroker
        outcome.duplicates = tally.duplicates
        outcome.deadLetters = inbox?.deadLetters.count ?? 0
        outcome.duration = .now() - self.started
        outcome.problems = self.problems
        if self.kind.isOurs, tally.traffic.acknowledgedOutOfOrder > 0 {
            outcome.problems.append("\(tally.traffic.acknowledgedOutOfOrder) acknowledgements out of order")
        }
        return outcome
    }
}
