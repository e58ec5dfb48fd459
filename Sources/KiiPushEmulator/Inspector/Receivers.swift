import Glibc
import KiiPushCore

/// The programs on this machine that receive and tell so (``ReceiverFolder``): watches them once somebody looks, and asks
/// them. One thread looks after the folder, and one for each receiver reads what it tells.
final class Receivers: Sendable {
    enum Message: Sendable {
        case watch
        case ended(receiver: String)
        case ask(Question, @Sendable (HTTPResponse) -> Void)
        case stop
    }

    /// How long a receiver may take to let itself be watched.
    static let patience = Duration.milliseconds(100)
    /// How often readers of the log that have had no news are woken.
    private static let beat = Duration.seconds(15)

    private let mailbox: Mailbox<Message>
    /// Taken out by who stops it.
    private let thread: Locked<OSThread?>
    private let isStopped: Locked<Bool>
    /// `nil` until somebody looks.
    private let join: Locked<VerdictJoin?>

    /// - Parameter folder: where receivers are; `nil` for none.
    init(in folder: ReceiverFolder?, log: ActivityLog) throws(EmulatorError) {
        let (mailbox, join) = (try Mailbox<Message>(), Locked<VerdictJoin?>(nil))
        let isStopped = Locked(false)
        (self.mailbox, self.join, self.isStopped) = (mailbox, join, isStopped)
        let thread = try OSThread(named: "kii-receivers") {
            Loop(folder: folder, log: log, join: join, mailbox: mailbox, isStopped: isStopped).run()
        }
        self.thread = Locked(thread)
        log.whenFollowed {
            join.withLock { $0 = VerdictJoin() }
            _ = mailbox.post(.watch)
        }
    }

    /// Takes note of what is about to be sent.
    func note(_ messages: [LoggedMessage]) {
        if !messages.isEmpty { self.join.withLock { $0?.add(messages.compactMap { VerdictJoin.Push($0) }) } }
    }

    /// Calls `answer` once, on another thread.
    func ask(_ question: Question, _ answer: @escaping @Sendable (HTTPResponse) -> Void) {
        if !self.mailbox.post(.ask(question, answer)) { answer(Question.stopped) }
    }

    deinit { self.stop() }

    /// Ends the threads. Blocks for as long as the receiver takes to answer that is being asked; nobody else is.
    func stop() {
        guard let thread = self.thread.withLock({ $0.take() }) else { return }
        self.isStopped.withLock { $0 = true }
        _ = self.mailbox.post(.stop)
        thread.join()
    }

    /// What the thread owns.
    private final class Loop {
        private let folder: ReceiverFolder?
        private let log: ActivityLog
        private let join: Locked<VerdictJoin?>
        private let mailbox: Mailbox<Message>
        private let isStopped: Locked<Bool>
        /// When readers are woken next; `nil` while nobody follows.
        private var nextBeat: MonotonicInstant?
        private var watch: FileWatch?
        /// Whether somebody may have come since the folder was read.
        private var isStale = false
        private var watched: [String: (client: ControlClient, thread: OSThread)] = [:]

        init(
            folder: ReceiverFolder?, log: ActivityLog, join: Locked<VerdictJoin?>, mailbox: Mailbox<Message>,
            isStopped: Locked<Bool>
        ) {
            (self.folder, self.log, self.join, self.mailbox, self.isStopped) = (folder, log, join, mailbox, isStopped)
        }

        func run() {
            while self.takeMessages() {
                if self.isStale { self.watchReceivers() }
                self.wait()
            }
            for (client, _) in self.watched.values { client.interrupt() }
            for (_, thread) in self.watched.values { thread.join() }
            for case .ask(_, let answer) in self.mailbox.close() { answer(Question.stopped) }
        }

        /// Returns `false` when the loop is to end.
        private func takeMessages() -> Bool {
            for message in self.mailbox.takeAll() {
                switch message {
                case .watch: self.begin()
                case .ended(let receiver): self.watched.removeValue(forKey: receiver)?.thread.join()
                case .ask(_, let answer) where self.isEnding: answer(Question.stopped)
                case .ask(let question, let answer): answer(question.answer(self.folder?.entries() ?? []))
                case .stop: break
                }
            }
            return !self.isEnding
        }

        private var isEnding: Bool { self.isStopped.withLock { $0 } }

        private func begin() {
            self.nextBeat = .now() + Receivers.beat
            guard let folder else { return }
            // Where there is none, or no watch to spare, nobody is watched.
            try? PrivateFile.makeDirectory(folder.path)
            self.watch = try? FileWatch(folder.path, for: IN_CREATE | IN_MOVED_TO)
            self.isStale = true
        }

        private func wait() {
            var entries = [pollfd(fd: self.mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
            if let changed = self.watch?.descriptor.number {
                entries.append(pollfd(fd: changed, events: Int16(POLLIN), revents: 0))
            }
            poll(&entries, nfds_t(entries.count), self.nextBeat?.millisecondsLeft ?? -1)
            self.isStale = entries.dropFirst().contains { $0.revents != 0 }
            // Before the folder is read, so that nobody is missed who comes meanwhile.
            self.watch?.reset()
            guard let beat = self.nextBeat, beat <= .now() else { return }
            self.nextBeat = .now() + Receivers.beat
            self.isStale = true
            self.log.wakeReaders()
        }

        /// Begins to watch who is not watched yet. Who does not answer is tried again when somebody comes, and every beat.
        private func watchReceivers() {
            for entry in self.folder?.entries() ?? [] where self.watched[entry.name] == nil {
                let client = try? ControlClient(stateDirectory: entry.stateDirectory, patience: Receivers.patience)
                guard let client else { continue }
                let (log, join, mailbox) = (self.log, self.join, self.mailbox)
                let thread = try? OSThread(named: "kii-receiver") {
                    Loop.follow(client, of: entry, log, join)
                    _ = mailbox.post(.ended(receiver: entry.name))
                }
                if let thread { self.watched[entry.name] = (client, thread) }
            }
        }

        /// Reads what a receiver tells, until it ends.
        private static func follow(
            _ client: ControlClient, of entry: ReceiverFolder.Entry, _ log: ActivityLog, _ join: Locked<VerdictJoin?>
        ) {
            // A receiver that ends the conversation is as good as gone.
            try? client.watch { notice in
                switch notice {
                case .event(.message(let event)):
                    let deliveries = join.withLock { $0?.take(event, of: entry.name) ?? [] }
                    for delivery in deliveries { log.append(.delivery(delivery), at: delivery.event.at) }
                case .event: break
                case .unknown: log.append(.missed(MissedEvents(receiver: entry.name, count: 1)))
                case .missed(let count): log.append(.missed(MissedEvents(receiver: entry.name, count: count)))
                }
            }
        }
    }
}
