import KiiPushCore

/// Compares the ledger of an inbox file with its rows.
///
/// It may run while other connections write, and after a process was killed: one transaction reads everything, with SQL
/// that is independent of the library's.
package enum LedgerAudit {
    /// Descriptions of the differences; empty if there are none.
    package static func problems(inInboxAt path: String) throws -> [String] {
        let file = try SQLiteFile(path, for: .reading)
        try file.execute("BEGIN")
        let names = ["waiting", "inHand", "retry", "presented", "done", "dead"]
        var counted = [Int64](repeating: 0, count: names.count)
        var bytes = counted
        for row in try file.integers("SELECT state, count(*), sum(bytes) FROM message GROUP BY state") {
            guard counted.indices.contains(Int(row[0])) else { return ["there are rows in state \(row[0])"] }
            (counted[Int(row[0])], bytes[Int(row[0])]) = (row[1], row[2])
        }
        let kept = try file.integers("SELECT rows0, rows1, rows2, rows3, rows4, rows5 FROM ledger")[0]
        let keptBytes = try file.integers("SELECT bytes0, bytes1, bytes2, bytes3, bytes4, bytes5 FROM ledger")[0]
        let totals = try file.integers(
            "SELECT last_sequence, received, duplicates, pruned, expired + dropped, lost FROM ledger")[0]
        let highest = try file.integer("SELECT coalesce(max(sequence), 0) FROM message")
        try file.execute("COMMIT")
        let (last, received, duplicates, pruned) = (totals[0], totals[1], totals[2], totals[3])
        let (removed, lost) = (totals[4], totals[5])
        let leftOut = last - (received - duplicates)

        var problems: [String] = []
        for (index, name) in names.enumerated() where counted[index] != kept[index] {
            problems.append("\(counted[index]) rows are \(name), and the ledger says \(kept[index])")
        }
        for (index, name) in names.enumerated() where bytes[index] != keptBytes[index] {
            problems.append("\(bytes[index]) bytes are \(name), and the ledger says \(keptBytes[index])")
        }
        if highest > last { problems.append("there is a row \(highest), and the last one given out is \(last)") }
        // Each number is used once, for a message that is not a duplicate. If messages may have been lost with a file,
        // the numbering skips at least a million.
        if leftOut != 0, leftOut < 1_000_000 {
            problems.append("\(last) rows were ever made of \(received) received, \(duplicates) of them duplicates")
        }
        let present = counted.reduce(0, +)
        if received != present + pruned + removed + lost + duplicates {
            problems.append(
                "\(received) received, and \(present) there, \(pruned) done and removed, \(removed) expired or dropped, "
                    + "\(lost) lost, "
                    + "\(duplicates) duplicates")
        }
        return problems
    }

    /// Compares the ledger of a state directory's inbox with its rows, and with the inbox's ``MessageLedger``.
    package static func problems(inStateDirectory directory: String) throws -> [String] {
        let path = directory + "/inbox.sqlite"
        let ledger = try InboxReader(stateDirectory: directory).ledger()
        return try self.problems(inInboxAt: path) + (ledger.isBalanced ? [] : ["the ledger says: \(ledger)"])
    }
}
