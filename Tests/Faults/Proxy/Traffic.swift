package import KiiPushCore

/// The deliveries and acknowledgements that passed the proxy.
package struct Traffic: Sendable {
    package struct Delivery: Sendable, Hashable {
        package var connection: Int
        /// The packet identifier on the receiver's side.
        package var packetID: UInt16
        package var isMarkedDuplicate: Bool
        /// The serial among equal messages; see ``MessageSerial``.
        package var serial: Int?
    }

    /// Deliveries by the number in the payload.
    package private(set) var deliveries: [Int: [Delivery]] = [:]
    /// The numbers of messages whose PUBACK the receiver sent, whether or not it reached the broker.
    package private(set) var acknowledged: Set<Int> = []
    package private(set) var publishCount = 0
    package private(set) var pubackCount = 0
    /// PUBACKs sent before that of an earlier message on the same connection.
    package private(set) var acknowledgedOutOfOrder = 0
    /// PUBACKs for a packet identifier that was not delivered on their connection, or was already acknowledged.
    package private(set) var strayAcknowledgements = 0
    /// Messages whose first delivery had DUP.
    package private(set) var unseenDuplicates = 0
    /// Largest number of unacknowledged deliveries on one connection.
    package private(set) var mostInFlight = 0
    /// Accepted connections.
    package private(set) var connections = 0
    package private(set) var connectionsEndedByPeers = 0
    package private(set) var cuts = 0
    /// Connections that were reset as soon as they were accepted.
    package private(set) var refused = 0
    /// Time of acceptance, by connection.
    package private(set) var openedAt: [Int: Timestamp] = [:]
    /// Number of unacknowledged deliveries, by ended connection.
    package private(set) var unacknowledgedAtEnd: [Int: Int] = [:]

    private struct Outstanding {
        var packetID: UInt16
        var number: Int?
    }

    private var outstanding: [Int: [Outstanding]] = [:]

    package init() {}

    /// Number of unacknowledged deliveries on open connections.
    package var inFlight: Int { self.outstanding.values.reduce(0) { $0 + $1.count } }

    package var isDisconnected: Bool { self.unacknowledgedAtEnd.count == self.connections }

    package mutating func connected(at now: Timestamp = .now()) -> Int {
        self.connections += 1
        self.openedAt[self.connections] = now
        return self.connections
    }

    package mutating func refuse() { self.refused += 1 }

    package mutating func ended(_ connection: Int, byCut: Bool) {
        self.unacknowledgedAtEnd[connection] = self.outstanding.removeValue(forKey: connection)?.count ?? 0
        if byCut { self.cuts += 1 } else { self.connectionsEndedByPeers += 1 }
    }

    package mutating func delivered(
        _ number: Int?, serial: Int? = nil, packetID: UInt16, isMarkedDuplicate: Bool, connection: Int
    ) {
        self.publishCount += 1
        if let number {
            let former = self.deliveries[number] ?? []
            if isMarkedDuplicate, !former.contains(where: { $0.serial == serial }) { self.unseenDuplicates += 1 }
            self.deliveries[number, default: []].append(
                Delivery(
                    connection: connection, packetID: packetID, isMarkedDuplicate: isMarkedDuplicate, serial: serial))
        }
        self.outstanding[connection, default: []].append(Outstanding(packetID: packetID, number: number))
        self.mostInFlight = max(self.mostInFlight, self.outstanding[connection]?.count ?? 0)
    }

    package mutating func acknowledged(packetID: UInt16, connection: Int) {
        self.pubackCount += 1
        guard let index = self.outstanding[connection]?.firstIndex(where: { $0.packetID == packetID }) else {
            self.strayAcknowledgements += 1
            return
        }
        if index != 0 { self.acknowledgedOutOfOrder += 1 }
        if let number = self.outstanding[connection]?.remove(at: index).number { self.acknowledged.insert(number) }
    }
}

extension Collection<UInt8> {
    /// The `n` of a message's payload, found by a search because some payloads are invalid JSON on purpose. Only the
    /// first kilobyte is searched.
    var messageNumber: Int? {
        let key = Array("\"n\":".utf8)
        let beginning = Array(self.prefix(1024))
        guard let start = beginning.indices.first(where: { beginning[$0...].starts(with: key) }) else { return nil }
        let digits = beginning[(start + key.count)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
