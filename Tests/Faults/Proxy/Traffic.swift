package import KiiPushCore

/// What went over the proxy: which message was delivered to the receiver, how often, and which it acknowledged.
package struct Traffic: Sendable {
    /// One delivery of a message to the receiver.
    package struct Delivery: Sendable, Hashable {
        package var connection: Int
        /// As the receiver sees it.
        package var packetID: UInt16
        package var isMarkedDuplicate: Bool
        /// Which of several equal messages it is; see ``MessageSerial``.
        package var serial: Int?
    }

    /// By the number in the payload.
    package private(set) var deliveries: [Int: [Delivery]] = [:]
    /// The numbers of messages whose PUBACK the receiver sent, whether or not it reached the broker.
    package private(set) var acknowledged: Set<Int> = []
    /// PUBLISH packets to the receiver.
    package private(set) var publishCount = 0
    /// PUBACK packets from the receiver.
    package private(set) var pubackCount = 0
    /// PUBACKs that overtook that of an earlier message of the same connection.
    package private(set) var acknowledgedOutOfOrder = 0
    /// PUBACKs for what was not delivered on their connection, or acknowledged there already.
    package private(set) var strayAcknowledgements = 0
    /// Messages that came with DUP and had never come before.
    package private(set) var unseenDuplicates = 0
    /// The most that was delivered and not acknowledged on one connection.
    package private(set) var mostInFlight = 0
    /// Connections that were taken.
    package private(set) var connections = 0
    /// Connections that the broker or the receiver ended.
    package private(set) var connectionsEndedByPeers = 0
    /// Connections that the proxy cut.
    package private(set) var cuts = 0
    /// Connections that were reset as soon as they were made.
    package private(set) var refused = 0
    /// By connection, when it was taken.
    package private(set) var openedAt: [Int: Timestamp] = [:]
    /// By connection that has ended, how much was delivered on it and never acknowledged.
    package private(set) var unacknowledgedAtEnd: [Int: Int] = [:]

    private struct Outstanding {
        var packetID: UInt16
        var number: Int?
    }

    private var outstanding: [Int: [Outstanding]] = [:]

    package init() {}

    /// What is delivered and not acknowledged, on the connections that stand.
    package var inFlight: Int { self.outstanding.values.reduce(0) { $0 + $1.count } }

    /// Whether no connection stands.
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
    /// The `n` of a message's payload, found without parsing: some payloads are broken on purpose. It is among the first
    /// kilobyte, or there is none.
    var messageNumber: Int? {
        let key = Array("\"n\":".utf8)
        let beginning = Array(self.prefix(1024))
        guard let start = beginning.indices.first(where: { beginning[$0...].starts(with: key) }) else { return nil }
        let digits = beginning[(start + key.count)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
