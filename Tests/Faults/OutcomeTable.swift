import TestSupport

/// The table of results, with a row for each scenario and receiver.
package struct OutcomeTable {
    private var table: MarkdownTable

    package init(receiver: String = "receiver") {
        self.table = MarkdownTable([
            "scenario", receiver, "messages", "faults", "lost", "lost by broker", "duplicated", "dead letters", "time",
        ])
    }

    package mutating func add(_ outcome: Outcome) {
        self.table.add([
            outcome.scenario, outcome.receiver, "\(outcome.messages)", outcome.faults, "\(outcome.lost)",
            "\(outcome.lostByBroker)", OutcomeTable.duplicates(outcome), "\(outcome.deadLetters)",
            "\(OutcomeTable.seconds(outcome.duration)) s",
        ])
    }

    package var text: String { self.table.text }

    private static func duplicates(_ outcome: Outcome) -> String {
        let causes = DuplicateCause.allCases.compactMap { cause in
            outcome.duplicates[cause].map { "\($0) (\(cause.rawValue))" }
        }
        return causes.isEmpty ? "0" : causes.joined(separator: ", ")
    }

    private static func seconds(_ duration: Duration) -> String {
        let tenths = (duration.components.seconds * 10) + duration.components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
