import KiiPushCore
import TestSupport

extension Scenario {
    /// The end of a process, and the damage to its files.
    struct Damage: Sendable {
        var damage: InboxDamage
        var isKilled: Bool

        init(_ damage: InboxDamage, afterKill isKilled: Bool) {
            self.damage = damage
            self.isKilled = isKilled
        }

        static let all =
            [
                .zeroedLeaf, .flippedHead, .everyFourthPage, .pages2To6, .garbage, .emptied, .removed, .older,
            ].map { Damage($0, afterKill: false) }
            + [
                .zeroedLeaf, .everyFourthPage, .pages2To6, .garbage, .half, .older, .flippedBitInLog, .logRemoved,
                .emptiedWithLog, .removedWithLog,
            ].map { Damage($0, afterKill: true) }

        static let some = [
            Damage(.zeroedLeaf, afterKill: false), Damage(.removed, afterKill: false),
            Damage(.flippedBitInLog, afterKill: true),
        ]
    }

    static func damage(_ damages: [Damage], messages: Int) -> Scenario {
        Scenario("damage", "the inbox's files are damaged, cut or removed between two processes; what is lost is told")
        {
            play in
            for (index, damage) in damages.enumerated() {
                let first = index * messages + 1
                try await play.leaveOpen(first..<first + messages, isKilled: damage.isKilled)
                let path = play.bench.state + "/inbox.sqlite"
                try damage.damage.apply(to: path, at: "\"n\":\(first + messages / 2),")
                try await play.receiveAfter(damage)
            }
            try play.expectDamagedLetters()
            try play.receiver.start()
            try await play.finishAfterLast()
            return "\(damages.count) damages, \(play.toldAsLost) told as lost"
        }
    }
}

extension Play {
    /// Lets an agent that handles no message acknowledge these messages, and ends it.
    mutating func leaveOpen(_ numbers: Range<Int>, isKilled: Bool) async throws {
        var settings = AgentReceiver.Settings()
        settings.holds = true
        self.observation = Observation(self.bench.agent(settings), patience: self.kind.patience)
        try self.receiver.start()
        try await self.publish(numbers, padding: 400)
        let (proxy, state) = (self.proxy, self.bench.state)
        let isReached = try await self.observation.wait { _ in
            guard proxy.traffic.acknowledged.isSuperset(of: numbers) else { return false }
            // The mark may be a second late. A kill within that second is not tested here, because its loss is
            // invisible.
            guard isKilled, let mark = InboxMark(ofInboxAt: state + "/inbox.sqlite") else { return !isKilled }
            return try Int(InboxReader(stateDirectory: state).ledger().received) <= Int(mark.stored)
        }
        self.expect(isReached, "not all of \(numbers) were acknowledged and marked")
        if isKilled { try await self.receiver.kill() } else { try await self.receiver.process.stop() }
    }

    /// Receives with the damaged files until every message is handled, a dead letter, or reported as lost.
    fileprivate mutating func receiveAfter(_ damage: Scenario.Damage) async throws {
        let name = "\(damage.damage.rawValue) after a \(damage.isKilled ? "kill" : "clean stop")"
        let state = self.bench.state
        let isSeen = Self.isUnsound(state)
        self.expect(isSeen, "\(name): who looks at the inbox sees nothing")
        let agent = self.bench.agent()
        let toldBefore = agent.told.count { $0 == "inboxMovedAside" }
        self.observation = Observation(agent, patience: self.kind.patience)
        try self.receiver.start()
        try await self.waitForAccounts(of: name) { agent.told.count { $0 == "inboxMovedAside" } > toldBefore }
        try await self.receiver.process.stop()
        guard self.problems.isEmpty else { throw Play.Stopped() }
    }

    /// Waits until every message is handled, a dead letter, or reported as lost, and until `isTold` returns `true` (the
    /// agent has reported the loss).
    mutating func waitForAccounts(of name: String, isTold: () -> Bool) async throws {
        let (sent, state) = (Set(self.sent.keys), self.bench.state)
        var (handled, dead, lost) = (0, 0, 0)
        let isAccountedFor = try await self.observation.wait { log in
            // While the agent replaces the file, there is none.
            guard let ledger = try? InboxReader(stateDirectory: state).ledger() else { return false }
            (handled, dead) = (log.endings.count { sent.contains($0.key) }, Int(ledger.dead))
            lost = Int(ledger.lost)
            return handled + dead + lost >= sent.count && ledger.waiting + ledger.running == 0 && isTold()
        }
        self.expect(
            isAccountedFor && handled + dead + lost == sent.count,
            "\(name): \(handled) handled, \(dead) dead and \(lost) told as lost of \(sent.count); the agent "
                + (self.receiver.isRunning ? "runs" : "has ended: \(self.receiver.process.lastWords)"))
        self.toldAsLost = lost
    }

    /// Expects dead letters for messages that the damaged file held but that were too damaged to be handled.
    mutating func expectDamagedLetters() throws {
        let letters = try InboxReading(state: self.bench.state).dead.letters
        self.expectedDead = Set(letters.filter { $0.reason.hasPrefix("damaged inbox") }.compactMap(\.number))
    }

    /// Whether a replaced inbox still has a notice to report. An unreadable inbox counts as one.
    static func hasNotices(_ state: String) -> Bool {
        let file = try? SQLiteFile("\(state)/inbox.sqlite", for: .reading)
        return (try? file?.integer("SELECT count(*) FROM notice")) != 0
    }

    static func isUnsound(_ state: String) -> Bool {
        do throws(InboxAccessError) {
            try InboxReader(stateDirectory: state).verify()
            return false
        } catch {
            if case .damaged = error { return true }
            return false
        }
    }
}
