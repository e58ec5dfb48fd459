package import KiiPushCore

extension Console {
    package func tellZone() { if !self.json { self.status("> Times are \(Timestamp.now().localZone).") } }

    package func show(_ ledger: MessageLedger) throws {
        let rows = ledger.counts + [("unaccounted", ledger.unaccounted)]
        for (name, count) in rows where name != "unaccounted" || count != 0 {
            try self.line("\(name.padded(to: 13)) \(count)")
        }
        try self.object("inbox", rows.map { ($0, JSONValue($1)) })
    }
}

extension MessageRecord.Standing: ExpressibleByArgument {}

extension MessageLedger {
    package var counts: [(String, Int64)] {
        [
            ("received", self.received), ("duplicates", self.duplicates), ("waiting", self.waiting),
            ("running", self.running), ("presented", self.presented), ("done", self.done), ("dead", self.dead),
            ("expired", self.expired), ("lost", self.lost), ("dropped", self.dropped),
        ]
    }
}

package struct MessageNumber: ExpressibleByArgument {
    package let value: Int64

    package init?(argument: String) {
        guard let value = Int64(argument.hasPrefix("#") ? argument.dropFirst() : argument[...]), value > 0 else {
            return nil
        }
        self.value = value
    }

    package static var expectation: String { "the number of a message, such as 17" }
    package static var completion: CompletionKind { .asked(.messages) }
}
