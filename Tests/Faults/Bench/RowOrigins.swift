package import KiiPushCore

/// Finds out which message a row of an inbox was made of, where several have equal bytes.
package struct RowOrigins: Sendable {
    /// A row, as far as it says where it came from.
    package struct Row: Sendable {
        /// What the handler is told (`context.messageID`).
        package var id: Int64
        package var number: Int
        package var packetID: UInt16
        /// The connection as the agent numbers them: later ones have larger numbers.
        package var connection: Int64
        package var receivedAt: Timestamp

        package init(id: Int64, number: Int, packetID: UInt16, connection: Int64, receivedAt: Timestamp) {
            self.id = id
            self.number = number
            self.packetID = packetID
            self.connection = connection
            self.receivedAt = receivedAt
        }
    }

    /// What a row and a delivery both know.
    fileprivate struct Key: Hashable {
        var connection: Int
        var number: Int
        var packetID: UInt16
    }

    /// By row, the serial of its message. A row that nothing was delivered for has none.
    package static func serials(of rows: [Row], in traffic: Traffic) -> [String: Int] {
        // What was sent without a serial is there too, as `.some(nil)`: its row tells the connection all the same.
        var delivered: [Key: Int?] = [:]
        for (number, deliveries) in traffic.deliveries {
            for delivery in deliveries {
                let key = Key(connection: delivery.connection, number: number, packetID: delivery.packetID)
                if delivered[key] == nil { delivered.updateValue(delivery.serial, forKey: key) }
            }
        }
        var serials: [String: Int] = [:]
        var last = 0
        for (_, group) in Dictionary(grouping: rows, by: \.connection).sorted(by: { $0.key < $1.key }) {
            // The agent's numbers are its own; what both sides know is the time, and what came.
            let first = group.map(\.receivedAt).min()
            let origin = traffic.openedAt.filter { opened in
                opened.key > last && first.map { opened.value <= $0 } ?? false
                    && group.allSatisfy { delivered[Key(opened.key, $0)] != nil }
            }.keys.max()
            guard let origin else { continue }
            last = origin
            for row in group { serials["\(row.id)"] = delivered[Key(origin, row)] ?? nil }
        }
        return serials
    }
}

extension RowOrigins.Key {
    fileprivate init(_ connection: Int, _ row: RowOrigins.Row) {
        self.init(connection: connection, number: row.number, packetID: row.packetID)
    }
}
