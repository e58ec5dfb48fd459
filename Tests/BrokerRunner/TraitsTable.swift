import Faults

/// A table of brokers: their behaviour towards a client that does not acknowledge.
struct TraitsTable {
    private var lines = [
        "| broker | unacknowledged at most | sent again while connected | sent again after a reconnect | DUP |",
        "|---|---|---|---|---|",
    ]

    mutating func add(_ title: String, _ traits: BrokerTraits) {
        let cells = [
            title, "\(traits.window)", TraitsTable.words(traits.whileConnected), TraitsTable.words(traits.onReconnect),
            "\(Int(traits.markedDuplicates * 100)) %",
        ]
        self.lines.append("| \(cells.joined(separator: " | ")) |")
    }

    var text: String { self.lines.joined(separator: "\n") }

    private static func words(_ redelivery: BrokerTraits.Redelivery) -> String {
        switch redelivery {
        case .never: "no"
        case .after(let time, let keepsIdentifier):
            (time < .seconds(1) ? "at once" : "after \(time.components.seconds) s")
                + (keepsIdentifier ? ", same packet ID" : ", another packet ID")
        }
    }
}
