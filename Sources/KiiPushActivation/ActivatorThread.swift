import Glibc
import KiiPushCore

/// The thread of an activator: what happens goes into its queue, and what the queue orders is done.
final class ActivatorThread {
    private let mailbox: ActivatorMailbox
    private let bell: Bell
    private var queue: ActivationQueue
    private var deliveries: [Int: ActivatorMailbox.Delivery] = [:]
    private var lastNumber = 0
    private var program: ActivatedProgram?
    /// The delivery that the program was started with.
    private var first: Int?
    private let processFile: ProcessFile?

    private var configuration: Activator.Configuration { self.mailbox.configuration }

    init(mailbox: ActivatorMailbox, bell: Bell) {
        self.mailbox = mailbox
        self.bell = bell
        self.queue = ActivationQueue(
            takesOneMessage: mailbox.configuration.input == .standardInput,
            grace: mailbox.configuration.terminationGrace)
        self.processFile = mailbox.configuration.processFile.map(ProcessFile.init(path:))
    }

    func run() {
        let leftover = self.processFile?.endLeftover(
            grace: self.configuration.terminationGrace, waitingWith: self.bell)
        if let leftover { self.mailbox.report(.leftoverEnded(processID: leftover)) }
        while true {
            let content = self.mailbox.take()
            // Before anything is sent: not to a program that is known to have ended.
            for (processID, ending) in content.endings { self.ended(processID, ending) }
            let now = MonotonicInstant.now()
            for delivery in content.deliveries { self.deliver(delivery, now: now) }
            if content.isStopping { self.queue.stop(now: now) }
            self.queue.timePassed(now: .now())
            self.obey()
            if let badge = self.mailbox.badge { self.program?.tell(badge: badge.number ?? 0) }
            if content.isStopping, self.queue.isIdle { return self.mailbox.close() }
            let canBeRead = self.bell.wait(
                for: self.program?.openDescriptor, writing: self.program?.hasOutput ?? false,
                until: self.queue.nextDeadline)
            self.program?.write()
            if canBeRead { self.read() }
        }
    }

    private func deliver(_ delivery: ActivatorMailbox.Delivery, now: MonotonicInstant) {
        self.lastNumber += 1
        self.deliveries[self.lastNumber] = delivery
        self.queue.deliver(
            .init(number: self.lastNumber, id: delivery.context.messageID, deadline: delivery.deadline), now: now)
    }

    private func read() {
        guard let program else { return }
        for said in program.read() {
            switch said {
            case .answer(.state(let state)): self.mailbox.lifecycle?.follow(state)
            case .answer(.badge(let number)):
                self.mailbox.badge?.set(number)
                program.hasSetBadge()
            case .answer(let answer):
                if case .ready(_, wantsBadge: true) = answer { program.followBadge() }
                self.queue.received(answer, now: .now())
            case .nonsense(let reason):
                self.mailbox.report(.misspoke(processID: program.processID, reason: reason))
            case .end: self.queue.inputClosed()
            }
        }
    }

    private func ended(_ processID: Int32, _ ending: ChildProcess.Ending) {
        guard self.program?.processID == processID else { return }
        self.queue.inputClosed()
        // What it said last is in the socket still; what others say there that it has left running is of no interest.
        for _ in 0..<8 { self.read() }
        self.program = nil
        self.mailbox.lifecycle?.follow(.notRunning)
        self.processFile?.remove()
        self.mailbox.report(.ended(processID: processID, how: "\(ending)"))
        if let first = self.first { self.deliveries[first]?.whenEnded?(ending) }
        self.first = nil
        self.queue.ended(ending, now: .now())
    }

    private func start(with number: Int) {
        guard let delivery = self.deliveries[number] else { return }
        do throws(SystemError) {
            let program = try ActivatedProgram(
                self.configuration, first: self.message(of: delivery), environment: delivery.environment,
                whenEnded: { [mailbox] in mailbox.ended($0, $1) })
            self.program = program
            self.first = number
            let failure = self.processFile?.write(program.processID)
            self.mailbox.report(.started(processID: program.processID))
            if let failure { self.mailbox.report(.processFileFailed(reason: failure)) }
        } catch {
            // Of a shortage the agent tells.
            if !error.isShortage { self.mailbox.report(.startFailed(reason: "\(error)")) }
            self.queue.startFailed(reason: "\(error)", isShortage: error.isShortage, now: .now())
        }
    }

    private func message(of delivery: ActivatorMailbox.Delivery) -> ActivationMessage {
        let context = delivery.context
        return ActivationMessage(
            id: context.messageID, attempt: context.attempt, timeRemaining: context.timeRemaining,
            userAction: context.userAction, installationID: context.installationID, receivedAt: context.receivedAt,
            payload: delivery.payload, badge: self.mailbox.badge.map { $0.number ?? 0 })
    }

    private func obey() {
        while case let orders = self.queue.takeOrders(), !orders.isEmpty {
            for order in orders { self.obey(order) }
        }
    }

    private func completion(of number: Int) -> FetchCompletion? {
        self.deliveries.removeValue(forKey: number)?.completion
    }

    private func obey(_ order: ActivationQueue.Order) {
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
            self.mailbox.report(.terminated(processID: program.processID, signal: signal))
            program.end(with: signal)
        }
    }
}
