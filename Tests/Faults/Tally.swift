/// Counts what became of messages, from the receiver's log, the proxy's notes and, where it is ours, the inbox.
package struct Tally {
    /// By number, how many messages the broker had acknowledged to the sender.
    package var sent: [Int: Int]
    package var log: HandledLog
    package var traffic: Traffic
    /// Numbers of dead letters.
    package var dead: Set<Int> = []
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
        for (number, count) in self.sent where !self.dead.contains(number) {
            let handled = count == 1 ? min(1, self.endings(number)) : self.messagesHandled(number)
            if handled < count { missing[number] = count - handled }
        }
        return missing
    }

    /// Lost although the receiver had it, or although nothing happened to the broker.
    package var lost: Int {
        self.missing.filter { !self.brokerWasKilled || self.traffic.acknowledged.contains($0.key) }.values.reduce(0, +)
    }

    package var lostByBroker: Int { self.missing.values.reduce(0, +) - self.lost }

    /// How many numbers were handled more often than they were sent, by cause.
    package var duplicates: [DuplicateCause: Int] {
        var causes: [DuplicateCause: Int] = [:]
        for (number, count) in self.sent where self.endings(number) > count {
            causes[self.cause(number), default: 0] += 1
        }
        return causes
    }

    private func endings(_ number: Int) -> Int { self.log.endings[number]?.values.reduce(0, +) ?? 0 }

    /// Different messages of one number, as the receiver calls them. One without IDs of its own calls each 0.
    private func messagesHandled(_ number: Int) -> Int {
        let endings = self.log.endings[number] ?? [:]
        return endings.count - (endings["0"] == nil ? 0 : 1) + (endings["0"] ?? 0)
    }

    private func cause(_ number: Int) -> DuplicateCause {
        let endings = self.log.endings[number] ?? [:]
        let deliveries = self.traffic.deliveries[number] ?? []
        let sent = self.sent[number] ?? 0
        if endings["0"] == nil ? endings.count <= sent : deliveries.count <= sent { return .answerNotStored }
        if deliveries.filter({ !$0.isMarkedDuplicate }).count > sent { return .withoutDUP }
        if Set(deliveries.map(\.packetID)).count > sent { return .renumbered }
        return .redelivered
    }
}
