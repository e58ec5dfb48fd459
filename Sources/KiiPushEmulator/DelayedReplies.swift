import Glibc
import KiiPushCore

/// Answers that are given later than they could be, because a fault says so.
final class DelayedReplies: Sendable {
    private struct Waiting: Sendable {
        var due: MonotonicInstant
        var give: @Sendable () -> Void
    }

    private enum Message: Sendable {
        case wait(Waiting)
        case stop
    }

    private let mailbox: Mailbox<Message>
    private let thread: OSThread
    private let stopped = Locked(false)

    init() throws(EmulatorError) {
        let mailbox = try Mailbox<Message>()
        self.mailbox = mailbox
        self.thread = try OSThread(named: "kii-delay") { DelayedReplies.run(mailbox) }
    }

    /// Calls `give` after `delay`, or as soon as this is stopped: on another thread, or at once without a delay.
    func after(_ delay: Duration, _ give: @escaping @Sendable () -> Void) {
        guard delay > .zero else { return give() }
        if !self.mailbox.post(.wait(Waiting(due: .now() + delay, give: give))) { give() }
    }

    /// Gives what waits and ends the thread. Only the first call does anything.
    func stop() {
        guard self.stopped.isFirst() else { return }
        _ = self.mailbox.post(.stop)
        self.thread.join()
    }

    deinit { self.stop() }

    private static func run(_ mailbox: Mailbox<Message>) {
        var waiting: [Waiting] = []
        var isRunning = true
        while isRunning {
            var entry = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, waiting.map { $0.due }.min()?.millisecondsLeft ?? -1)
            for message in mailbox.takeAll() {
                switch message {
                case .wait(let reply): waiting.append(reply)
                case .stop: isRunning = false
                }
            }
            let now = MonotonicInstant.now()
            for reply in waiting where reply.due <= now { reply.give() }
            waiting.removeAll { $0.due <= now }
        }
        for case .wait(let reply) in mailbox.close() { reply.give() }
        for reply in waiting { reply.give() }
    }
}
