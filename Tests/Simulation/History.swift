import KiiPushCore

/// One history: an agent and its broker, with all faults, from the first message to the last verdict.
///
/// `@unchecked Sendable` is safe, because all events of a history run on one thread.
final class History: @unchecked Sendable {
    static let packetBytes = 16_384
    /// Longest duration of a history: more than all attempts of any message and of earlier messages of its source.
    private static let limit: Duration = .seconds(5 * 24 * 3600)
    private static let mostEvents = 400_000

    let plan: Plan
    let timeline = Timeline()
    let account: Account
    let disk: Disk
    private let broker: ModelBroker
    private var process: AgentProcess?
    private var processes = 0
    private var messages: [Int: Plan.Message] = [:]
    private var callCounts: [Int: Int] = [:]
    private var connections = 0
    private var refusesUntil = MonotonicInstant(nanoseconds: 0)
    private var open: [String: Connection] = [:]
    private var elementsLeft = 0
    private var isDiskFailing = false
    private(set) var diskFailsUntil = MonotonicInstant(nanoseconds: 0)
    private var isSettled = false
    private var isOver = false
    private(set) var sleeps = 0
    /// Whether this is the last process, which handles the deferred messages.
    private(set) var isLastRun = false

    var directory: String { self.disk.directory }
    var inboxPath: String { "\(self.directory)/inbox.sqlite" }

    /// - Parameter directory: an empty directory, preferably in memory.
    init?(_ plan: Plan, in directory: String) {
        guard let disk = Disk(directory, seed: plan.seed, capacity: plan.agent.diskBytes) else { return nil }
        self.plan = plan
        self.disk = disk
        self.account = Account(plan, self.timeline)
        self.broker = ModelBroker(
            plan.broker, self.timeline, self.account, topics: (0..<plan.installations).map(History.topic))
    }

    var clocks: Clocks {
        Clocks(
            monotonic: { [unowned self] in self.timeline.now },
            calendarNanoseconds: { [unowned self] in self.timeline.calendarNanoseconds })
    }

    static func topic(_ installation: Int) -> String { "installation-\(installation)" }

    static func endpoint(_ installation: Int) -> MQTTEndpoint {
        MQTTEndpoint(
            installationID: History.topic(installation), host: History.topic(installation), portTCP: 1883, portSSL: nil,
            mqttTopic: History.topic(installation), username: "user", password: "password")
    }

    func message(_ number: Int) -> Plan.Message? { self.messages[number] }

    /// The number of earlier calls of the handler with this message; counts this one.
    func calls(of number: Int) -> Int {
        defer { self.callCounts[number, default: 0] += 1 }
        return self.callCounts[number, default: 0]
    }

    // MARK: - Running

    func run() -> Judgement {
        self.schedule()
        if self.plan.agent.findsInbox { self.disk.putEmptyInbox() }
        self.startProcess()
        let end = self.timeline.now + History.limit
        while !self.isOver, self.account.violations.isEmpty {
            guard self.timeline.step() else {
                self.account.violated("nothing happens any more, and messages are left: \(self.standing)")
                break
            }
            if self.timeline.now > end || self.timeline.count > History.mostEvents {
                self.account.violated("it comes to no end: \(self.standing)")
            }
            if self.elementsLeft == 0 { self.endIfSettled() }
        }
        self.process?.die()
        self.process?.release()
        self.process = nil
        for connection in self.open.values { connection.agentDied() }
        self.timeline.removeAll()
        defer { self.disk.clear() }
        return Judgement(self)
    }

    private var standing: String { self.process?.standing ?? "no process runs" }

    private func schedule() {
        for (_, element) in self.plan.elements {
            self.elementsLeft += 1
            self.timeline.after(element.at) { [weak self] in
                guard let self else { return }
                self.elementsLeft -= 1
                switch element {
                case .message(let message): self.send(message)
                case .fault(let fault): self.play(fault)
                }
            }
        }
    }

    private func endIfSettled() {
        guard let process, !process.isDead, self.broker.isEmpty, process.isIdle else { return }
        self.isSettled = self.account.setAsideCount == 0
        self.isLastRun = true
        process.stop()
    }

    // MARK: - Processes

    private func startProcess() {
        guard !self.isOver else { return }
        self.disk.revive()
        self.processes += 1
        self.account.processBegan()
        let process = AgentProcess(self, number: self.processes)
        self.process = process
        do {
            try process.begin()
        } catch {
            guard !process.isDead else { return }
            if !self.isDiskFailing { self.account.violated("the inbox cannot be opened: \(error)") }
            self.kill(process, power: false)
        }
    }

    /// Kills the process at once. Its code that is still running returns without any effect.
    func kill(_ process: AgentProcess, power: Bool, inOperation: Bool = false) {
        guard !process.isDead else { return }
        process.die()
        self.disk.removeAlarm()
        if !self.disk.die(power: power, isInOperation: inOperation) {
            self.account.violated("the simulated disk cannot be written: is there room for it?")
        }
        self.isSettled = false
        self.account.processDied()
        for connection in self.open.values { connection.agentDied() }
        self.open = [:]
        self.followUp(process)
    }

    func ended(_ process: AgentProcess) {
        process.die()
        self.disk.removeAlarm()
        self.open = [:]
        self.isOver = self.isSettled
        self.followUp(process)
    }

    private func followUp(_ process: AgentProcess) {
        // Release only after the process's code has returned.
        self.timeline.after(.zero) { process.release() }
        var dice = Dice(self.plan.seed, 6, UInt64(self.processes))
        self.timeline.after(dice.milliseconds(1...3000)) { [weak self] in self?.startProcess() }
    }

    // MARK: - The network

    func connect(_ stream: SimulatedStream, _ target: StreamTarget) {
        guard case .tcp(let client, _) = target else { return }
        self.connections += 1
        let connection = Connection(
            client, self.timeline, self.broker, self.account, stream,
            dice: Dice(self.plan.seed, 7, UInt64(self.connections)))
        stream.output = { connection.agentSent($0) }
        self.open[client] = connection
        self.timeline.now < self.refusesUntil ? connection.refuse() : connection.open()
    }

    private func send(_ message: Plan.Message) {
        self.messages[message.number] = message
        let copy = self.account.accepted(message)
        let topic = History.topic(message.installation)
        self.broker.publish(
            ModelBroker.Outgoing(
                copy: copy, topic: message.kind == .elsewhere ? "\(topic)/elsewhere" : topic,
                payload: Payload.bytes(message), qos: message.qos),
            to: topic)
    }

    // MARK: - Faults

    private func play(_ fault: Plan.Fault) {
        self.account.note("\(fault.kind)")
        var dice = Dice(fault.salt)
        let connection = self.open[History.topic(dice.number(0...self.plan.installations - 1))]
        switch fault.kind {
        case .cut: connection?.cut(&dice)
        case .silence: connection?.fallSilent()
        case .drip: connection?.drip(limit: self.plan.agent.keepAlive + .seconds(60))
        case .refusal(let time):
            self.refusesUntil = self.timeline.now + time
            connection?.cut(&dice)
        case .forgetting: self.broker.forgetSessions()
        case .goingBack:
            // The broker goes back to this copy later, so the copy is older than the broker's state then.
            self.broker.saveCopy()
            self.timeline.after(dice.milliseconds(0...3000)) { [weak self] in self?.broker.goBack() }
        case .kill(let power): if let process { self.kill(process, power: power) }
        case .killAtDisk(let operations, let power):
            self.disk.setAlarm(operations: operations) { [weak self] in
                guard let self, let process = self.process else { return }
                self.kill(process, power: power, inOperation: true)
            }
        case .stop: self.process?.stop()
        case .disk(let time, let writes, let flushes, let reads):
            self.beginDiskFault(time) { $0.setFailures(writes: writes, flushes: flushes, reads: reads) }
        case .full(let time): self.beginDiskFault(time) { $0.setFull(true) }
        case .damage:
            guard let process else { return }
            self.kill(process, power: false)
            self.account.forgets(isAlive: false)
            self.account.isDamaged = true
            self.account.answersMayBeMissing()
            self.disk.damage(&dice)
        case .calendar(let shift):
            self.timeline.setCalendar(by: shift)
            self.process?.clocksJumped(ClockJump(calendarMoved: shift))
        case .sleep(let time):
            self.timeline.setCalendar(by: time)
            self.sleeps += 1
            self.account.slept()
            self.process?.clocksJumped(ClockJump(slept: time))
        }
    }

    private func beginDiskFault(_ time: Duration, _ fault: (Disk) -> Void) {
        self.isDiskFailing = true
        self.diskFailsUntil = max(self.diskFailsUntil, self.timeline.now + time)
        self.account.answersMayBeMissing()
        fault(self.disk)
        self.timeline.after(time) { [weak self] in
            guard let self else { return }
            self.isDiskFailing = false
            self.disk.setFailures(writes: 0, flushes: 0, reads: 0)
            self.disk.setFull(false)
        }
    }
}

enum Payload {
    static func bytes(_ message: Plan.Message) -> [UInt8] {
        let number = "{\"n\":\(message.number),"
        switch message.kind {
        case .undecodable: return Array(number.utf8)
        case .command:
            return Array("\(number)\"commandID\":\"c\",\"schema\":\"s\",\"schemaVersion\":1,\"actions\":[]}".utf8)
        case .good, .oversized, .elsewhere:
            let source =
                "\"objectScopeAppID\":\"a\",\"objectScopeType\":\"APP\",\"topic\":\"t\(message.source)\",\"pad\":\""
            let padding = message.kind == .oversized ? History.packetBytes : message.padding
            return Array(number.utf8) + Array(source.utf8) + Array(repeating: UInt8(ascii: "x"), count: padding)
                + Array("\"}".utf8)
        }
    }

    /// The number in a payload, even if the payload is truncated.
    static func number(_ bytes: [UInt8]) -> Int? {
        let key = Array("{\"n\":".utf8)
        guard bytes.starts(with: key) else { return nil }
        return Int(String(decoding: bytes.dropFirst(key.count).prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
    }
}
