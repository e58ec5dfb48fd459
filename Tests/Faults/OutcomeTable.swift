/// The one table: a row a scenario and receiver.
package struct OutcomeTable {
    private let header: [String]
    private var rows: [[String]] = []

    /// - Parameter receiver: the title of the column with the outcomes' receivers.
    package init(receiver: String = "receiver") {
        self.header = [
            "scenario", receiver, "messages", "faults", "lost", "lost by broker", "duplicated", "dead letters", "time",
        ]
    }

    package mutating func add(_ outcome: Outcome) {
        self.rows.append([
            outcome.scenario, outcome.receiver, "\(outcome.messages)", outcome.faults, "\(outcome.lost)",
            "\(outcome.lostByBroker)", OutcomeTable.duplicates(outcome), "\(outcome.deadLetters)",
            "\(OutcomeTable.seconds(outcome.duration)) s",
        ])
    }

    /// As a table of Markdown.
    package var text: String {
        let rows = [self.header] + self.rows
        let widths = self.header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
        }
        lines.insert(widths.map { String(repeating: "-", count: $0) }.joined(separator: "-|-"), at: 1)
        return lines.map { "| \($0) |" }.joined(separator: "\n")
    }

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
