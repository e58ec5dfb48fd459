import KiiPushCore

/// A record of every message in one history: what the broker accepted and sent, what the agent acknowledged, each call
/// of a handler and its answer. Checks the invariants after each event and at the end.
final class Account {
    struct Copy {
        let message: Plan.Message
        var isAcknowledged = false
        var isLostByBroker = false
        var sent: [Sending] = []
        /// Whether the agent may drop this message as a redelivery of another one. A broker that went back to an old
        /// copy of its state may have sent an equal message under the same packet ID (Documentation/brokers.md, "When a
        /// packet ID counts").
        var mayBeTakenForAnother = false

        /// The reasons for which the agent may handle this message once more: each is a redelivery that looks like a
        /// new message.
        var excuses: [String] { self.sent.compactMap(\.excuse) }
    }

    struct Sending {
        let at: MonotonicInstant
        let connection: Int
        let packetID: UInt16?
        var isAcknowledged = false
        var excuse: String?
    }

    struct Row: Hashable {
        /// The number of the process if the inbox is in memory, where each process counts from 1; else 0.
        var process: Int
        var messageID: Int64
    }

    struct Life {
        let number: Int
        let source: String
        var attempt = 0
        var process = 0
        var starts = 0
        var startedAt = MonotonicInstant(nanoseconds: 0)
        var isRunning = false
        /// The number of kills in a row during the handler's call of one attempt, without a new attempt number
        /// afterwards.
        var uncounted = 0
        var successes: [(process: Int, at: MonotonicInstant)] = []
        var dead: (process: Int, at: MonotonicInstant)?
        var setAsideIn: Int?
        /// The earliest start of the next attempt if the last one failed in this process.
        var notBefore: MonotonicInstant?

        var isFinished: Bool { self.dead != nil || !self.successes.isEmpty }
    }

    struct Process {
        var diedAt: MonotonicInstant?
        /// Whether the inbox may lack this process's answers because the disk failed or the inbox was damaged.
        var mayLackAnswers = false
    }

    private let plan: Plan
    private let timeline: Timeline
    private(set) var copies: [Copy] = []
    var lives: [Row: Life] = [:]
    private(set) var processes: [Process] = []
    private(set) var violations: [String] = []
    /// Whether the agent may have forgotten received messages: the inbox was damaged, or its history was pruned.
    private(set) var hasForgotten: Bool
    private var connections = 0
    private var numbering: [String: Numbering] = [:]
    /// The row of each source whose first attempt started last.
    private var lastStarted: [String: Int64] = [:]

    init(_ plan: Plan, _ timeline: Timeline) {
        self.plan = plan
        self.timeline = timeline
        self.hasForgotten = plan.agent.keptFor < .seconds(3600) || plan.agent.keptBytes < 1 << 20
    }

    /// Called with a sentence for each event, for people who debug one history.
    var tracer: ((String) -> Void)?

    func note(_ sentence: @autoclosure () -> String) {
        if let tracer { tracer("\(self.timeline.seconds): \(sentence())") }
    }

    func violated(_ sentence: String) {
        self.note("✘ \(sentence)")
        if self.violations.count < 20 { self.violations.append("\(self.timeline.seconds): \(sentence)") }
    }

    var process: Int { self.processes.count - 1 }

    func processBegan() {
        self.note("process \(self.processes.count) begins")
        self.processes.append(Process())
        let wasKilled = self.processes.dropLast().last?.diedAt != nil
        for (row, life) in self.lives {
            let wasSetAside = life.setAsideIn == self.process - 1
            if wasKilled, life.isRunning, !wasSetAside { self.lives[row]?.uncounted += 1 }
            self.lives[row]?.isRunning = false
            self.lives[row]?.notBefore = nil
        }
        let end = self.processes.dropLast().last?.diedAt
        for client in self.numbering.keys {
            self.numbering[client]?.processBegan(at: self.timeline.now, after: end)
        }
    }

    func processDied() {
        self.note("process \(self.process) is killed")
        self.processes[self.process].diedAt = self.timeline.now
    }

    /// - Parameter isAlive: Whether the process goes on. The process does not recognise redeliveries of messages that
    ///   it had not stored.
    func forgets(isAlive: Bool) {
        self.hasForgotten = true
        guard isAlive else { return }
        for index in self.copies.indices {
            let sent = self.copies[index].sent
            guard sent.count > 1, let last = sent.last, !last.isAcknowledged, last.excuse == nil else { continue }
            self.copies[index].sent[sent.count - 1].excuse = "forgotten"
        }
    }

    func answersMayBeMissing() { self.processes[max(0, self.process)].mayLackAnswers = true }

    func movedAside(_ reason: String) {
        if !self.isDamaged { self.violated("nobody has damaged the inbox that was moved aside: \(reason)") }
    }

    // MARK: - The broker

    func accepted(_ message: Plan.Message) -> Int {
        self.copies.append(Copy(message: message))
        return self.copies.count - 1
    }

    func lostByBroker(_ copies: [Int]) { for copy in copies { self.copies[copy].isLostByBroker = true } }

    func sessionBegan(_ client: String) {
        self.numbering[client]?.since = self.timeline.now
        self.numbering[client]?.isReused = false
        self.numbering[client]?.isKept = false
    }

    func brokerWentBack() {
        for client in self.numbering.keys {
            self.numbering[client]?.since = self.timeline.now
            self.numbering[client]?.isReused = true
        }
    }

    func connectionBegan(_ client: String) {
        self.connections += 1
        var numbering = self.numbering[client] ?? Numbering(since: self.timeline.now)
        numbering.connection = self.connections
        numbering.hasSent = false
        numbering.connected()
        self.numbering[client] = numbering
    }

    func asks(_ client: String) { self.numbering[client]?.asks(at: self.timeline.now) }

    func answered(_ client: String) { self.numbering[client]?.answered(at: self.timeline.now) }

    /// A connection that begins with PUBREL does not show whether its broker keeps packet IDs.
    func released(to client: String) { self.numbering[client]?.hasSent = true }

    func sent(_ copy: Int, packetID: UInt16?, duplicate: Bool, to client: String) {
        self.note(
            "copy \(copy), message \(self.copies[copy].message.number), is sent as packet \(packetID ?? 0)\(duplicate ? ", DUP" : "")"
        )
        guard var numbering = self.numbering[client] else { return }
        if let packetID, !numbering.hasSent {
            numbering.hasSent = true
            if packetID != 1 { numbering.isKept = true }
            self.numbering[client] = numbering
        }
        var sending = Sending(at: self.timeline.now, connection: numbering.connection, packetID: packetID)
        let last = self.copies[copy].sent.last
        if let last { sending.excuse = self.excuse(last.at, last.connection, duplicate: duplicate, numbering) }
        if duplicate, numbering.isReused {
            // A PUBLISH on a dead link has no entry in `sent`.
            let isFresh = last.map { $0.at >= numbering.since && $0.connection != numbering.connection } ?? true
            if isFresh, self.hadEqual(as: copy, packetID) { self.copies[copy].mayBeTakenForAnother = true }
        }
        self.copies[copy].sent.append(sending)
    }

    private func hadEqual(as copy: Int, _ packetID: UInt16?) -> Bool {
        let number = self.copies[copy].message.number
        return self.copies.indices.contains { index in
            index != copy && self.copies[index].message.number == number
                && self.copies[index].sent.contains { $0.packetID == packetID }
        }
    }

    func takenForAnother(_ copies: [Copy]) -> Int { copies.count { $0.isAcknowledged && $0.mayBeTakenForAnother } }

    /// The reason why an agent may handle this redelivery as a new message, or `nil` (Documentation/brokers.md, "When a
    /// packet ID counts").
    private func excuse(
        _ before: MonotonicInstant, _ connection: Int, duplicate: Bool, _ numbering: Numbering
    ) -> String? {
        if !duplicate { return "came without DUP" }
        if self.hasForgotten { return "forgotten" }
        if numbering.since > before || numbering.isReused { return "another state of the broker" }
        if let doubt = numbering.inDoubtUntil, doubt >= before { return "CONNECT without an answer" }
        if self.plan.broker.resendsAfter != nil { return "sent again out of order" }
        if self.processes[max(0, self.process)].mayLackAnswers { return "not stored yet" }
        guard connection != numbering.connection else { return nil }
        if self.plan.broker.renumbers { return "renumbered" }
        if self.plan.broker.isOld { return "MQTT 3.1" }
        if !numbering.isKept { return "not known to keep packet identifiers" }
        if self.timeline.now - before > .seconds(290) { return "too late" }
        return nil
    }

    func acknowledged(_ copy: Int) {
        self.note("copy \(copy), message \(self.copies[copy].message.number), is acknowledged")
        self.copies[copy].isAcknowledged = true
        if let last = self.copies[copy].sent.indices.last { self.copies[copy].sent[last].isAcknowledged = true }
        guard self.isInMemory, self.copies[copy].message.kind == .good else { return }
        let number = self.copies[copy].message.number
        let equal = self.copies.filter { $0.message.number == number }
        let owed = equal.count { $0.isAcknowledged } - self.takenForAnother(equal)
        let finished = self.lives.values.count { $0.number == number && $0.isFinished }
        if finished < owed { self.violated("message \(number) was acknowledged before its outcome was final") }
    }

    // MARK: - The handlers

    func row(_ messageID: Int64) -> Row {
        Row(process: self.isInMemory ? self.process : 0, messageID: messageID)
    }

    func started(_ messageID: Int64, number: Int, source: String, attempt: Int) {
        self.note("row \(messageID), message \(number): attempt \(attempt) begins")
        let row = self.row(messageID)
        var life = self.lives[row] ?? Life(number: number, source: source)
        if life.number != number { self.violated("row \(messageID) holds message \(life.number) and \(number)") }
        self.judgeStart(messageID, life, attempt: attempt)
        if life.setAsideIn == self.process { self.violated("row \(messageID) was set aside and started again") }
        if attempt != life.attempt { life.uncounted = 0 }
        life.attempt = attempt
        life.process = self.process
        life.starts += 1
        life.startedAt = self.timeline.now
        life.isRunning = true
        life.notBefore = nil
        life.dead = nil
        self.lives[row] = life
    }

    /// Whether the inbox may lack a verdict of this time because the process was killed before the write.
    func mayBeUnwritten(_ process: Int, _ at: MonotonicInstant) -> Bool {
        if self.processes[process].mayLackAnswers { return true }
        // The next turn of the loop writes the answer. The turn before may be slow, on a slow disk too.
        guard process < self.process, let diedAt = self.processes[process].diedAt else { return false }
        return diedAt - at < .milliseconds(200)
    }

    private func judgeStart(_ messageID: Int64, _ life: Life, attempt: Int) {
        if let last = life.successes.last, !self.mayBeUnwritten(last.process, last.at) {
            self.violated("row \(messageID) was started again after a success that counted")
        }
        if let dead = life.dead, !self.mayBeUnwritten(dead.process, dead.at) {
            self.violated("row \(messageID) was started again after it was given up on")
        }
        // The inbox stores due times of the calendar, in whole milliseconds.
        if let notBefore = life.notBefore, self.timeline.now + .milliseconds(2) < notBefore {
            self.violated("attempt \(attempt) of row \(messageID) started before its pause was over")
        }
        if attempt > self.attempts || attempt < 1 { self.violated("row \(messageID) has an attempt \(attempt)") }
        if life.process == self.process, life.attempt > 0, attempt != life.attempt + 1 {
            self.violated("after attempt \(life.attempt) of row \(messageID) came attempt \(attempt)")
        }
        // From the second process on, a message whose call was interrupted runs alone, and its attempt is written
        // before the call.
        let mayBeUncounted = self.hasForgotten || self.processes.contains(where: \.mayLackAnswers)
        if attempt == life.attempt, life.uncounted > 1, !mayBeUncounted {
            self.violated("attempt \(attempt) of row \(messageID) ended two processes, and does not count")
        }
        self.judgeNeighbours(messageID, life)
        guard life.starts == 0, !self.isInMemory else { return }
        if let last = self.lastStarted[life.source], last > messageID {
            self.violated("row \(messageID) started after row \(last) of its source")
        }
        self.lastStarted[life.source] = max(messageID, self.lastStarted[life.source] ?? 0)
    }

    var isInMemory: Bool { self.plan.agent.isInMemory }

    /// Messages of a source run one at a time. With strict order, a message starts only after all earlier ones have
    /// ended.
    private func judgeNeighbours(_ messageID: Int64, _ life: Life) {
        for (row, other) in self.lives where other.source == life.source && other.process == self.process {
            guard row.messageID != messageID, row.process == self.row(messageID).process else { continue }
            if other.isRunning, self.timeline.now - other.startedAt < .seconds(29) {
                self.violated("row \(messageID) started while row \(row.messageID) of its source was running")
            }
            guard self.plan.agent.isStrict, row.messageID < messageID else { continue }
            if !other.isFinished, other.setAsideIn == nil {
                self.violated("row \(messageID) started before row \(row.messageID) of its source had ended")
            }
        }
    }

    private var attempts: Int { self.plan.agent.allPauses.count + 1 }
    var isDamaged = false

    func returned(_ messageID: Int64, attempt: Int) {
        self.note("row \(messageID): its call returns")
        let row = self.row(messageID)
        if self.lives[row]?.attempt == attempt { self.lives[row]?.isRunning = false }
    }

    func succeeded(_ messageID: Int64) {
        self.note("row \(messageID): a success counts")
        let row = self.row(messageID)
        if let last = self.lives[row]?.successes.last, last.process == self.process {
            self.violated("two successes of row \(messageID) counted")
        }
        self.lives[row]?.successes.append((self.process, self.timeline.now))
        self.lives[row]?.notBefore = nil
    }

    func failed(_ messageID: Int64, attempt: Int, pause: Duration) {
        guard self.lives[self.row(messageID)]?.attempt == attempt else { return }
        self.note("row \(messageID): attempt \(attempt) has failed")
        self.lives[self.row(messageID)]?.notBefore = self.timeline.now + pause
    }

    func setAside(_ messageID: Int64) {
        let row = self.row(messageID)
        self.lives[row]?.setAsideIn = self.process
        // A deferred message waits as if this process had not tried it, so its kills count from 0.
        self.lives[row]?.uncounted = 0
    }

    /// The number of sources that may have a message waiting for its retry. With strict order such a message waits in
    /// memory.
    var retries: Int {
        Set(self.lives.values.filter { $0.attempt > 0 && !$0.isFinished }.map(\.source)).count
    }

    var setAsideCount: Int { self.lives.values.count { $0.setAsideIn == self.process } }

    /// After a sleep of the machine, all pauses may be over.
    func slept() { for row in self.lives.keys { self.lives[row]?.notBefore = nil } }

    func died(_ messageID: Int64) {
        self.note("row \(messageID): is given up on")
        self.lives[self.row(messageID)]?.dead = (self.process, self.timeline.now)
    }
}
