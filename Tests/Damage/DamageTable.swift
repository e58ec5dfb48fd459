import TestSupport

/// The fate of the messages, in one row for each kind of damage.
package struct DamageTable {
    private struct Row {
        var damages = 0
        var asTheyAre = 0
        var salvaged = 0
        var withLoss = 0
        var failed = 0
        var lost = 0
        var excess = 0
        var again = 0
        var unclear = 0
        var altered = 0
    }

    private var names: [[String]] = []
    private var rows: [[String]: Row] = [:]

    package init() {}

    package mutating func add(_ finding: Finding) {
        let name = [finding.damage.moment.rawValue, finding.damage.kind.rawValue]
        if self.rows[name] == nil { self.names.append(name) }
        var row = self.rows[name] ?? Row()
        row.damages += 1
        switch finding {
        case _ where !finding.problems.isEmpty: row.failed += 1
        case _ where finding.lost > 0: row.withLoss += 1
        case _ where finding.replacements > 0: row.salvaged += 1
        default: row.asTheyAre += 1
        }
        row.lost += finding.lost
        row.excess += finding.excess
        row.again += finding.again
        row.unclear += finding.unclear
        row.altered += finding.altered
        self.rows[name] = row
    }

    package var text: String {
        var table = MarkdownTable([
            "when", "damage", "tried", "opened as they are", "salvaged whole", "salvaged with losses",
            "messages told as lost", "handled all the same", "handled again", "unclear", "altered", "failed",
        ])
        for name in self.names {
            guard let row = self.rows[name] else { continue }
            let numbers = [
                row.damages, row.asTheyAre, row.salvaged, row.withLoss, row.lost, row.excess, row.again, row.unclear,
                row.altered, row.failed,
            ]
            table.add(name + numbers.map { "\($0)" })
        }
        return table.text
    }
}
