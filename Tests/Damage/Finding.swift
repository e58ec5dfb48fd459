import KiiPushCore
import TestSupport

/// The agents' treatment of the messages after one damage.
package struct Finding: Sendable {
    package let damage: Damage
    package private(set) var replacements = 0
    /// Messages that agents reported as lost.
    package private(set) var lost = 0
    /// Messages among ``lost`` that were handled, before or after the damage.
    package private(set) var excess = 0
    /// Settled messages that were handled again.
    package private(set) var again = 0
    /// Messages that became dead letters because a part of their row was unreadable.
    package private(set) var unclear = 0
    /// Messages whose handler got another payload.
    package private(set) var altered = 0
    package private(set) var problems: [String] = []

    /// A finding without counts: the agents refused the files or did not reach the end.
    init(_ damage: Damage, failure: any Error) {
        self.damage = damage
        self.problems = ["\(failure)"]
    }

    init(_ damage: Damage, of past: Past, further: Int, record: TrialRecord, end: TrialEnd) {
        self.damage = damage
        let before = past.snapshot(at: damage.moment)
        let calls = Dictionary(grouping: record.calls, by: \.messageID)
        let dead = Set(end.letters.map(\.messageID))
        // Every acknowledged message is settled already, handled, dead, open or missing.
        let found = Set(calls.keys).union(dead).union(end.open)
        let missing = Set(before.messages.keys).subtracting(before.settled).subtracting(found).count
        let told = record.replacements.compactMap(\.lost).reduce(0, +)
        self.replacements = record.replacements.count
        self.lost = Int(end.ledger.lost)
        self.excess = self.lost - missing
        self.again = before.settled.intersection(calls.keys).count
        self.unclear = end.letters.count { $0.reason.hasPrefix("damaged inbox") }
        self.altered = record.calls.count { call in
            before.messages[call.messageID].map { $0.payload != call.payload } ?? false
        }

        self.expect(self.excess >= 0, "\(missing) messages are missing, and \(self.lost) are told as lost")
        let most = damage.mostExcess(in: past)
        self.expect(self.excess <= most, "\(self.excess) messages are told as lost that are not; \(most) may be")
        self.expect(told == self.lost, "\(self.lost) messages are lost, and \(told) were told")
        let isSeen = record.isSeen || damage.moment == .whileOpen
        self.expect(isSeen || record.lostAtOpening == 0, "nobody saw the damage before an agent started")
        self.expect(self.altered <= damage.mostAltered, "\(self.altered) payloads are not what was sent")
        self.expect(self.again == 0 || damage.leavesOldPages, "\(self.again) messages were handled again")
        let twice = calls.count { $0.value.count > 1 }
        self.expect(twice == 0 || damage.leavesOldPages, "\(twice) messages were handled twice")
        let came = calls.keys.count { before.messages[$0] == nil }
        // A message with a changed number looks like a message that came afterwards.
        let renumbered = damage.changesNumbers ? 1 : 0
        let expected = further...further + renumbered
        self.expect(expected.contains(came), "\(came) of \(further) messages that came afterwards were handled")
        let unknown = dead.union(end.open).filter { before.messages[$0] == nil }.count
        self.expect(unknown <= renumbered, "\(unknown) messages are there that nobody sent")
        self.audit(end, stored: past.acknowledged + further)
    }

    private mutating func audit(_ end: TrialEnd, stored: Int) {
        let ledger = end.ledger
        let open = ledger.waiting + ledger.running + ledger.presented
        self.expect(ledger.isBalanced, "the ledger says: \(ledger)")
        self.expect(ledger.received - ledger.duplicates == stored, "\(stored) were stored, and it says: \(ledger)")
        self.expect(ledger.dead == end.letters.count, "\(end.letters.count) letters are there, and it says: \(ledger)")
        self.expect(open == end.open.count, "\(end.open.count) messages are open, and it says: \(ledger)")
        // The count of bytes only steers how much an agent reads from the network. The next start corrects a wrong
        // count. Numbers after a changed number are above it.
        let harmless = self.damage.changesNumbers ? [" bytes are ", " rows were ever made of "] : []
        self.problems += end.problems.filter { problem in !harmless.contains { problem.contains($0) } }
    }

    private mutating func expect(_ isTrue: Bool, _ problem: String) {
        if !isTrue { self.problems.append(problem) }
    }
}

/// The limits of `Documentation/delivery.md`, section "A damaged inbox".
extension Damage {
    /// Maximum number of messages that an agent may report as lost although they are handled.
    fileprivate func mostExcess(in past: Past) -> Int {
        let settled = past.snapshot(at: self.moment).settled
        let inMemory = self.moment == .whileOpen ? Trial.messagesInMemory : 0
        return switch self.kind {
        // Messages that are still open in the older copy.
        case .pageOlder: settled.subtracting(past.older.settled).count + inMemory
        // Messages whose end is only in the log.
        case .shortenedWithoutLog, .logCut, .logCutWithin, .logHeaderFlipped, .logPageFlipped:
            settled.subtracting(past.beforeLog.settled).count
        // An index may list a message under a changed number, which no row has.
        case .pageFlipped: 1 + inMemory
        case .pageZeroed, .pageGarbled, .shortened: inMemory
        }
    }

    /// Maximum number of payloads that may become other valid JSON.
    fileprivate var mostAltered: Int {
        switch self.kind {
        case .pageFlipped: .max
        // SQLite may have given a page with a part of a large payload to another message since the older copy. The last
        // pages of all payloads end alike, so the message is still JSON.
        case .pageOlder: 1
        case .pageZeroed, .pageGarbled, .shortened, .shortenedWithoutLog, .logCut, .logCutWithin, .logHeaderFlipped,
            .logPageFlipped:
            0
        }
    }

    /// Whether settled messages may look open.
    fileprivate var leavesOldPages: Bool {
        switch self.kind {
        case .pageOlder, .shortenedWithoutLog, .logCut, .logCutWithin, .logHeaderFlipped, .logPageFlipped: true
        case .pageZeroed, .pageGarbled, .pageFlipped, .shortened: false
        }
    }

    /// Whether the damage may change a number into another valid number.
    fileprivate var changesNumbers: Bool { self.kind == .pageFlipped }
}
