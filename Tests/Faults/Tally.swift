/// Counts the results of messages from the receiver's log, the proxy's record and, for this project's agent, the inbox.
package struct Tally {
    /// Number of messages that the broker acknowledged to their sender, by message number.
    package var sent: [Int: Int]
    package var log: HandledLog
    package var traffic: Traffic
    /// Serials of the handled messages (``RowOrigins``), by the receiver's ID. If several messages share a number, only
    /// those with a serial count as handled, because two handlings may be of one message.
    package var serials: [String: Int] = [:]
    package var dead = DeadLetters()
    /// Whether the broker was killed, so that it may have lost unacknowledged messages.
    package var brokerWasKilled = false

    package init(sent: [Int: Int], log: HandledLog, traffic: Traffic) {
        self.sent = sent
        self.log = log
        self.traffic = traffic
    }

    /// Number of messages that are neither handled nor dead letters, by message number.
    package var missing: [Int: Int] {
        var missing: [Int: Int] = [:]
        for (number, count) in self.sent {
            let left = count - self.handled(number) - self.dead.count(of: number)
            if left > 0 { missing[number] = left }
        }
        return missing
    }

    /// Messages lost although the receiver acknowledged them or the broker was never killed.
    package var lost: Int {
        self.missing.filter { !self.brokerWasKilled || self.traffic.acknowledged.contains($0.key) }.values.reduce(0, +)
    }

    package var lostByBroker: Int { self.missing.values.reduce(0, +) - self.lost }

    package var duplicates: [DuplicateCause: Int] {
        var causes: [DuplicateCause: Int] = [:]
        for (number, count) in self.sent {
            let endings = self.log.endings[number] ?? [:]
            guard count > 1 else {
                self.count(endings, self.traffic.deliveries[number] ?? [], into: &causes)
                continue
            }
            for (serial, names) in Dictionary(grouping: endings.keys, by: { self.serials[$0] }) where serial != nil {
                let deliveries = (self.traffic.deliveries[number] ?? []).filter { $0.serial == serial }
                self.count(endings.filter { names.contains($0.key) }, deliveries, into: &causes)
            }
        }
        return causes
    }

    private func handled(_ number: Int) -> Int {
        let endings = self.log.endings[number] ?? [:]
        return self.sent[number] == 1 ? min(1, endings.count) : Set(endings.keys.compactMap { self.serials[$0] }).count
    }

    /// Counts the repeated handlings of one message. A receiver without its own IDs uses the ID 0 for each.
    private func count(
        _ endings: [String: Int], _ deliveries: [Traffic.Delivery], into causes: inout [DuplicateCause: Int]
    ) {
        let redelivered = endings.count - 1 + (deliveries.count > 1 ? max(0, (endings["0"] ?? 0) - 1) : 0)
        let again = endings.values.reduce(0, +) - 1 - redelivered
        if again > 0 { causes[.answerNotStored, default: 0] += again }
        if redelivered > 0 { causes[self.cause(deliveries), default: 0] += redelivered }
    }

    private func cause(_ deliveries: [Traffic.Delivery]) -> DuplicateCause {
        if deliveries.count(where: { !$0.isMarkedDuplicate }) > 1 { return .withoutDUP }
        return Set(deliveries.map(\.packetID)).count > 1 ? .renumbered : .redelivered
    }
}
