#if Postgres
import Foundation
import KiiPushCore
import TestSupport

/// The log of all gateways' handlers: a line for each handling.
struct HandledLines {
    /// Number of handlings, by agent and message number.
    private(set) var counts: [Substring: Int] = [:]
    private let text: String

    init(_ path: String) {
        self.text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        for line in self.text.split(separator: "\n") { self.counts[line, default: 0] += 1 }
    }
}

struct TrialOutcome {
    let agents: Int
    var faults: [Fault: Int] = [:]
    /// Number of frozen or cut-off gateways that ended because others had taken over.
    var fenced: [Fault: Int] = [:]
    /// Longest time from the death of a gateway until all its agents were connected again.
    var longestTakeover = Duration.zero
    /// Ends of gateways that the trial did not cause.
    var unexpected: [String] = []
    /// Number of stopped gateways that handed over their shards.
    var handedOver = 0
    var pushes = 0
    var handled = 0
    var twice = 0
    /// Number of rows that the handlers wrote with their answers; ``counted`` is the number of different messages among
    /// them.
    var rows = 0
    var counted = 0
    /// Number of rows in the database that no handler has finished.
    var unhandled = 0

    init(agents: Int) { self.agents = agents }

    mutating func read(_ lines: HandledLines) {
        self.handled = lines.counts.count
        self.twice = lines.counts.values.reduce(0) { $0 + $1 - 1 }
    }

    mutating func read(rows text: String) {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 2 else { return }
        (self.rows, self.counted) = (numbers[0], numbers[1])
    }

    mutating func expect(_ wanted: Int32, _ status: Int32, after event: String) {
        if status != wanted { self.unexpected.append("status \(status) after: \(event)") }
    }

    var lost: Int { self.pushes * self.agents - self.handled }
    /// Most frozen gateways have shards, so at least one of each fencing fault has to be fenced.
    var isGood: Bool {
        let isFencing = self.faults.keys.allSatisfy { !$0.isFencing || self.fenced[$0] != nil }
        return self.lost == 0 && self.unhandled == 0 && self.pushes > 0 && isFencing && self.unexpected.isEmpty
            && self.rows == self.counted && self.counted == self.pushes * self.agents
    }

    var text: String {
        var table = MarkdownTable(["what", "how often"])
        for fault in Fault.allCases where self.faults[fault] != nil {
            table.add([fault.title, "\(self.faults[fault] ?? 0)"])
        }
        table.add(["gateways that were fenced when they came back", "\(self.fenced.values.reduce(0, +))"])
        if self.faults[.kill] != nil {
            table.add(["until the agents of one that was killed were received again", self.longestTakeover.text])
        }
        table.add(["gateways that handed over", "\(self.handedOver)"])
        table.add(["messages sent: \(self.pushes) to each of \(self.agents) agents", "\(self.pushes * self.agents)"])
        table.add(["handled", "\(self.handled)"])
        table.add(["lost", "\(self.lost)"])
        table.add(["handled twice, since they were in hand", "\(self.twice)"])
        table.add(["rows that were written with an answer", "\(self.rows)"])
        table.add(["messages without such a row", "\(self.pushes * self.agents - self.counted)"])
        table.add(["messages with more than one", "\(self.rows - self.counted)"])
        for end in self.unexpected { table.add(["ended by itself", end]) }
        return table.text
    }
}
#endif
