/// Counts what became of messages, from the receiver's log, the proxy's notes and, where it is ours, the inbox.
package struct Tally {
    /// By number, how many messages the broker had acknowledged to the sender.
    package var sent: [Int: Int]
    package var log: HandledLog
    package var traffic: Traffic
    /// By what the receiver calls a message, which of the equal ones it is (``RowOrigins``). Of messages with one number
    /// only these count as handled: two handlings may be one message twice.
    package var serials: [String: Int] = [:]
    package var dead = DeadLetters()
    /// Whether the broker was killed, so that what it had and nobody acknowledged may be gone.
    package var brokerWasKilled = false

    package init(sent: [Int: Int], log: HandledLog, traffic: Traffic) {
        self.sent = sent
        self.log = log
        self.traffic = traffic
    }

    /// How many messages are neither handled nor dead letters, by number.
    package var missing: [Int: Int] {
        var missing: [Int: Int] = [:]
        for (number, count) in self.sent {
            let left = count - self.handled(number) - self.dead.count(of: number)
            if left > 0 { missing[number] = left }
        }
        return missing
    }

    /// Lost although the receiver had it, or although nothing happened to the broker.
    package var lost: Int {
        self.missing.filter { !self.brokerWasKilled || self.traffic.acknowledged.contains($0.key) }.values.reduce(0, +)
    }

    package var lostByBroker: Int { self.missing.values.reduce(0, +) - self.lost }

    /// How often a message was handled that had been handled before, by cause.
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

    /// Counts how often one message was handled again. A receiver without IDs of its own calls each 0.
    private func count(
        _ endings: [String: Int], _ deliveries: [Traffic.Delivery], into causes: inout [DuplicateCause: Int]
    ) {
        let redelivered = endings.count - 1 + (deliveries.count > 1 ? max(0, (endings["0"] ?? 0) - 1) : 0)
        let again = endings.values.reduce(0, +) - 1 - redelivered
        if again > 0 { causes[.answerNotStored, default: 0] += again }
        if redelivered > 0 { causes[self.cause(deliveries), default: 0] += redelivered }
    }

    /// Why one message was handled under several IDs.
    private func cause(_ deliveries: [Traffic.Delivery]) -> DuplicateCause {
        if deliveries.count(where: { !$0.isMarkedDuplicate }) > 1 { return .withoutDUP }
        return Set(deliveries.map(\.packetID)).count > 1 ? .renumbered : .redelivered
    }
}
