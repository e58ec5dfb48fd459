import Glibc
import KiiPushCore

final class ActivatorLoop: PollLoop {
    enum Message: Sendable {
        case deliver(Delivery)
        case ended(processID: Int32, ChildProcess.Ending)
        case badgeChanged
        case stop(whenStopped: @Sendable () -> Void)
    }

    struct Delivery: Sendable {
        let payload: [UInt8]
        let context: DeliveryContext
        let completion: FetchCompletion
        let deadline: MonotonicInstant
        var environment: [String: String] = [:]
        var whenEnded: (@Sendable (ChildProcess.Ending) -> Void)?
    }

    struct AgentsBadge {
        weak var badge: AgentBadge?
    }

    private let configuration: Activator.Configuration
    private let lifecycle: AgentLifecycle?
    private let agentsBadge: Locked<AgentsBadge>
    private let report: @Sendable (Activator.Event) -> Void
    private let whenEnded: @Sendable (Int32, ChildProcess.Ending) -> Void
    private var queue: ActivationQueue
    private var deliveries: [Int: Delivery] = [:]
    private var lastNumber = 0
    private var program: ActivatedProgram?
    private var first: Int?
    private let processFile: ProcessFile?
    private var whenStopped: [@Sendable () -> Void] = []

    private var badge: AgentBadge? { self.agentsBadge.withLock { $0.badge } }

    init(
        _ configuration: Activator.Configuration, lifecycle: AgentLifecycle?, badge: Locked<AgentsBadge>,
        report: @escaping @Sendable (Activator.Event) -> Void,
        whenEnded: @escaping @Sendable (Int32, ChildProcess.Ending) -> Void
    ) {
        self.configuration = configuration
        self.lifecycle = lifecycle
        self.agentsBadge = badge
        self.report = report
        self.whenEnded = whenEnded
        self.queue = ActivationQueue(
            takesOneMessage: configuration.input == .standardInput, grace: configuration.terminationGrace)
        self.processFile = configuration.processFile.map(ProcessFile.init(path:))
        let leftover = self.processFile?.endLeftover(grace: configuration.terminationGrace)
        if let leftover { report(.leftoverEnded(processID: leftover)) }
    }

    func turn(_ messages: [Message], readable: Set<Int32>) -> PollWait? {
        self.program?.write()
        if let descriptor = self.program?.openDescriptor, readable.contains(descriptor) { self.read() }
        // Handles ended programs before new deliveries, so that a delivery starts a new program.
        for case .ended(let processID, let ending) in messages { self.ended(processID, ending) }
        let now = MonotonicInstant.now()
        for message in messages {
            switch message {
            case .deliver(let delivery): self.deliver(delivery, now: now)
            case .stop(let whenStopped): self.whenStopped.append(whenStopped)
            case .ended, .badgeChanged: break
            }
        }
        if !self.whenStopped.isEmpty { self.queue.stop(now: now) }
        self.queue.timePassed(now: .now())
        self.execute()
        if let badge = self.badge { self.program?.tell(badge: badge.number ?? 0) }
        if !self.whenStopped.isEmpty, self.queue.isIdle { return nil }
        var wait = PollWait(until: self.queue.nextDeadline)
        wait.watch(self.program?.openDescriptor, writing: self.program?.hasOutput ?? false)
        return wait
    }

    func end(_ unread: [Message]) {
        for message in unread {
            switch message {
            case .deliver(let delivery): delivery.completion.fail(because: ActivationQueue.stopped)
            case .stop(let whenStopped): self.whenStopped.append(whenStopped)
            case .ended, .badgeChanged: break
            }
        }
        for notify in self.whenStopped { notify() }
    }

    private func deliver(_ delivery: Delivery, now: MonotonicInstant) {
        self.lastNumber += 1
        self.deliveries[self.lastNumber] = delivery
        self.queue.deliver(
            .init(number: self.lastNumber, id: delivery.context.messageID, deadline: delivery.deadline), now: now)
    }

    private func read() {
        guard let program else { return }
        for said in program.read() {
            switch said {
            case .answer(.state(let state)): self.lifecycle?.follow(state)
            case .answer(.badge(let number)):
                self.badge?.set(number)
                program.hasSetBadge()
            case .answer(let answer):
                if case .ready(_, wantsBadge: true) = answer { program.followBadge() }
                self.queue.received(answer, now: .now())
            case .nonsense(let reason):
                self.report(.invalidAnswer(processID: program.processID, reason: reason))
            case .end: self.queue.inputClosed()
            }
        }
    }

    private func ended(_ processID: Int32, _ ending: ChildProcess.Ending) {
        guard self.program?.processID == processID else { return }
        self.queue.inputClosed()
        // Reads the program's last lines. The limit is for descendants, which may write without end.
        for _ in 0..<8 { self.read() }
        self.program = nil
        self.lifecycle?.follow(.notRunning)
        self.processFile?.remove()
        self.report(.ended(processID: processID, how: "\(ending)"))
        if let first = self.first { self.deliveries[first]?.whenEnded?(ending) }
        self.first = nil
        self.queue.ended(ending, now: .now())
    }

    private func start(with number: Int) {
        guard let delivery = self.deliveries[number] else { return }
        do throws(SystemError) {
            let program = try ActivatedProgram(
                self.configuration, first: self.message(of: delivery), environment: delivery.environment,
                whenEnded: self.whenEnded)
            self.program = program
            self.first = number
            let failure = self.processFile?.write(program.processID)
            self.report(.started(processID: program.processID))
            if let failure { self.report(.processFileFailed(reason: failure)) }
        } catch {
            // The agent reports a lack of resources itself.
            if !error.isShortage { self.report(.startFailed(reason: "\(error)")) }
            self.queue.startFailed(reason: "\(error)", isShortage: error.isShortage, now: .now())
        }
    }

    private func message(of delivery: Delivery) -> ActivationMessage {
        let context = delivery.context
        return ActivationMessage(
            id: context.messageID, attempt: context.attempt, timeRemaining: context.timeRemaining,
            userAction: context.userAction, installationID: context.installationID, receivedAt: context.receivedAt,
            payload: delivery.payload, badge: self.badge.map { $0.number ?? 0 })
    }

    private func execute() {
        while case let orders = self.queue.takeOrders(), !orders.isEmpty {
            for order in orders { self.execute(order) }
        }
    }

    private func completion(of number: Int) -> FetchCompletion? {
        self.deliveries.removeValue(forKey: number)?.completion
    }

    private func execute(_ order: ActivationQueue.Order) {
        switch order {
        case .start(let number): self.start(with: number)
        case .send(let number):
            if let delivery = self.deliveries[number] { self.program?.send(self.message(of: delivery)) }
        case .answer(let number, .result(let result)): self.completion(of: number)?(result)
        case .answer(let number, .rejected(let reason)): self.completion(of: number)?.reject(reason)
        case .fail(let number, let reason): self.completion(of: number)?.fail(because: reason)
        case .postpone(let number, let reason): self.completion(of: number)?.postpone(reason)
        case .closeInput: self.program?.closeInput()
        case .end(let signal):
            guard let program else { return }
            self.report(.terminated(processID: program.processID, signal: signal))
            program.end(with: signal)
        }
    }
}
