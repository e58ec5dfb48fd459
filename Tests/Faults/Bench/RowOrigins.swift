package import KiiPushCore

/// Maps the rows of an inbox to their messages, if several messages have equal bytes.
package struct RowOrigins: Sendable {
    /// The facts of a row that identify its delivery.
    package struct Row: Sendable {
        /// The ID that the handler gets (`context.messageID`).
        package var id: Int64
        package var number: Int
        package var packetID: UInt16
        /// The agent's number of the connection; later connections have larger numbers.
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

    /// The facts that a row and a delivery share.
    fileprivate struct Key: Hashable {
        var connection: Int
        var number: Int
        var packetID: UInt16
    }

    /// The serial of each row's message, by row ID. A row without a delivery is missing.
    package static func serials(of rows: [Row], in traffic: Traffic) -> [String: Int] {
        // A delivery without a serial is `.some(nil)`: its row still helps to identify the connection.
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
            // The agent and the proxy number connections differently. Both know the time and the deliveries.
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
