import KiiPushCore

/// Counts what became of messages, from the receiver's log, the proxy's notes and, where it is ours, the inbox.
struct Tally {
    /// What the broker had acknowledged to the sender.
    var sent: Set<Int>
    var log: HandledLog
    var traffic: Traffic
    /// Numbers of dead letters.
    var dead: Set<Int> = []
    /// Whether the broker was killed, so that what it had and nobody acknowledged may be gone.
    var brokerWasKilled = false

    var missing: Set<Int> { self.sent.subtracting(self.log.ended).subtracting(self.dead) }

    /// Lost although the receiver had it, or although nothing happened to the broker.
    var lost: Set<Int> {
        self.brokerWasKilled ? self.missing.intersection(self.traffic.acknowledged) : self.missing
    }

    var lostByBroker: Set<Int> { self.missing.subtracting(self.lost) }

    var duplicates: [DuplicateCause: Int] {
        var endings: [Int: [HandledLog.Entry: Int]] = [:]
        for (entry, count) in self.log.endings { endings[entry.number, default: [:]][entry] = count }
        var causes: [DuplicateCause: Int] = [:]
        for (number, entries) in endings where entries.values.reduce(0, +) > 1 {
            causes[self.cause(number, entries), default: 0] += 1
        }
        return causes
    }

    private func cause(_ number: Int, _ entries: [HandledLog.Entry: Int]) -> DuplicateCause {
        // A receiver without IDs of its own calls every message 0.
        let hasIDs = entries.keys.allSatisfy { $0.id != "0" }
        let deliveries = self.traffic.deliveries[number] ?? []
        if hasIDs ? entries.count == 1 : deliveries.count < 2 { return .answerNotStored }
        if deliveries.filter({ !$0.isMarkedDuplicate }).count > 1 { return .withoutDUP }
        if Set(deliveries.map(\.packetID)).count > 1 { return .renumbered }
        return .redelivered
    }
}
