import KiiPushCore

package struct Judgement: Sendable {
    package private(set) var violations: [String]
    package private(set) var counts = Counts()

    package struct Counts: Sendable {
        package var histories = 1
        package var messages = 0
        package var acknowledged = 0
        package var handled = 0
        package var processes = 0
        package var deadLetters = 0
        package var toldAsLost = 0
        /// Histories with a damaged page whose inbox was unreadable at the end, so that its messages were not counted.
        package var unreadable = 0
        package var lostByBroker = 0
        /// Messages that an agent dropped as redeliveries of equal ones. A broker that went back to an old copy of its
        /// state had sent them under the same packet IDs (Documentation/brokers.md).
        package var takenForAnother = 0
        package var events = 0
        package var again: [String: Int] = [:]

        package init() {}

        package mutating func add(_ other: Counts) {
            self.histories += other.histories
            self.messages += other.messages
            self.acknowledged += other.acknowledged
            self.handled += other.handled
            self.processes += other.processes
            self.deadLetters += other.deadLetters
            self.toldAsLost += other.toldAsLost
            self.unreadable += other.unreadable
            self.lostByBroker += other.lostByBroker
            self.takenForAnother += other.takenForAnother
            self.events += other.events
            self.again.merge(other.again, uniquingKeysWith: +)
        }
    }

    init(_ history: History) {
        let account = history.account
        var letters: [MessageRecord] = []
        var ledger = MessageLedger()
        self.violations = []
        if account.violations.isEmpty, !history.plan.agent.isInMemory {
            do {
                let reader = try InboxReader(stateDirectory: history.directory)
                try reader.verify()
                letters = try reader.deadLetters(limit: 10_000)
                ledger = try reader.ledger()
                if !ledger.isBalanced { account.violated("the ledger does not add up: \(ledger)") }
            } catch {
                // Payloads are first read here, so damage may only show now.
                if account.isDamaged, case InboxAccessError.damaged = error {
                    self.counts.unreadable = 1
                } else {
                    account.violated("the inbox cannot be read at the end: \(error)")
                }
            }
        }
        if account.violations.isEmpty, self.counts.unreadable == 0 {
            account.judgeEnd(letters: letters, ledger: ledger, &self.counts)
        }
        self.counts.processes = account.processes.count
        self.counts.events = history.timeline.count
        self.violations = account.violations
    }
}

extension Account {
    /// Checks that every acknowledged message was handled, and that each repeated handling has a permitted reason.
    func judgeEnd(letters: [MessageRecord], ledger: MessageLedger, _ counts: inout Judgement.Counts) {
        var finished: [Int: Set<Row>] = [:]
        for (row, life) in self.lives where life.isFinished { finished[life.number, default: []].insert(row) }
        for letter in letters {
            guard let number = Payload.number(letter.payload) else { continue }
            finished[number, default: []].insert(self.row(letter.messageID))
        }
        if ledger.lost > 0, !self.isDamaged {
            self.violated("\(ledger.lost) are told as lost, and no page was damaged")
        }
        var (missing, removed) = (0, 0)
        let groups = Dictionary(grouping: self.copies, by: \.message.number)
        for (number, copies) in groups.sorted(by: { $0.key < $1.key }) {
            guard !self.isInMemory || copies[0].message.kind == .good else { continue }
            let owed = copies.count { $0.isAcknowledged }
            var rows = finished[number]?.count ?? 0
            guard rows < owed else { continue }
            let taken = min(owed - rows, self.takenForAnother(copies))
            counts.takenForAnother += taken
            rows += taken
            guard rows < owed else { continue }
            // The inbox removes old dead letters that no handler could handle, to make room for newer ones; on a full
            // disk first.
            let isRefused = [.undecodable, .oversized, .elsewhere].contains(copies[0].message.kind)
            if isRefused, removed + owed - rows <= ledger.expired {
                removed += owed - rows
            } else {
                missing += owed - rows
            }
            if missing > ledger.lost {
                self.violated(
                    "of \(owed) acknowledged messages with number \(number) \(rows) were handled or are dead letters, and "
                        + "\(ledger.lost) were told as lost in all")
            }
        }
        for (number, copies) in groups { self.judgeRepetitions(number, copies, finished[number] ?? [], &counts) }
        counts.messages = self.copies.count
        counts.acknowledged = self.copies.count { $0.isAcknowledged }
        counts.handled = self.lives.values.count { !$0.successes.isEmpty }
        counts.deadLetters = letters.count
        counts.toldAsLost = Int(ledger.lost)
        counts.lostByBroker = self.copies.count { $0.isLostByBroker && !$0.isAcknowledged }
    }

    private func judgeRepetitions(
        _ number: Int, _ copies: [Copy], _ finished: Set<Row>, _ counts: inout Judgement.Counts
    ) {
        for (row, life) in self.lives where life.number == number {
            for (before, after) in zip(life.successes, life.successes.dropFirst()) {
                if after.process == before.process || !self.mayBeUnwritten(before.process, before.at) {
                    self.violated("row \(row.messageID) was handled twice, and nothing explains it")
                }
                counts.again["answer not stored", default: 0] += 1
            }
        }
        let excess = finished.count - copies.count
        guard excess > 0 else { return }
        var excuses = copies.flatMap(\.excuses)
        if self.isInMemory, self.processes.count > 1 {
            excuses += Array(repeating: "process ended, inbox in memory", count: excess)
        }
        if excess > excuses.count {
            self.violated(
                "of \(copies.count) messages with number \(number) the agent made \(finished.count) rows, and "
                    + "\(excuses.count) redeliveries explain it")
        }
        for excuse in excuses.prefix(excess) { counts.again[excuse, default: 0] += 1 }
    }
}
