import Glibc
import KiiPushCore

/// The receivers that announce themselves in a ``ReceiverFolder``. One thread watches the folder, and one thread for
/// each receiver reads its events.
final class Receivers: Sendable {
    /// Returns the body of the answer.
    typealias Question = @Sendable ([ReceiverFolder.Entry]) throws(KiiFailure) -> JSONValue

    enum Message: Sendable {
        case watch
        case ended(receiver: String)
        case ask(Question, @Sendable (HTTPResponse) -> Void)
    }

    private static let stopped =
        KiiFailure(503, "RESOURCE_TEMPORARILY_UNAVAILABLE", "The emulator is about to end.").response
    /// The time limit for connecting to a receiver's control socket, and for each later send.
    static let patience = Duration.milliseconds(100)
    /// The interval at which the thread reads the folder without an event of the folder, and wakes the log's readers.
    private static let beat = Duration.seconds(15)
    /// The pause before the search for a receiver that ended. Without it, a receiver that ends every connection would
    /// keep the thread busy.
    private static let pause = Duration.seconds(1)

    private let thread = PollThread<Message>(name: "kii-receivers")
    /// `nil` until a reader follows the log. Before that, the log drops all entries, so nothing is joined.
    private let verdicts = Locked<VerdictJoin?>(nil)

    init(in folder: ReceiverFolder?, log: ActivityLog) throws(EmulatorError) {
        try self.thread.run { [thread, verdicts] in Loop(folder: folder, log: log, verdicts: verdicts, thread: thread) }
        log.whenFollowed { [thread, verdicts] in
            verdicts.withLock { $0 = VerdictJoin() }
            thread.send(.watch)
        }
    }

    func note(_ messages: [LoggedMessage]) {
        if !messages.isEmpty { self.verdicts.withLock { $0?.add(messages.compactMap { VerdictJoin.Push($0) }) } }
    }

    /// Calls `answer` once, usually on another thread.
    func ask(_ question: @escaping Question, _ answer: @escaping @Sendable (HTTPResponse) -> Void) {
        if !self.thread.send(.ask(question, answer)) { answer(Receivers.stopped) }
    }

    deinit { self.stop() }

    /// Blocks until the threads have ended. Unanswered and later questions get 503.
    func stop() {
        self.thread.stop()
        self.thread.join()
    }

    private final class Loop: PollLoop {
        private let folder: ReceiverFolder?
        private let log: ActivityLog
        private let verdicts: Locked<VerdictJoin?>
        private let thread: PollThread<Message>
        private var nextBeat: MonotonicInstant?
        private var watch: FileWatch?
        private var watched: [String: (client: ControlClient, thread: OSThread)] = [:]

        init(
            folder: ReceiverFolder?, log: ActivityLog, verdicts: Locked<VerdictJoin?>, thread: PollThread<Message>
        ) {
            self.folder = folder
            self.log = log
            self.verdicts = verdicts
            self.thread = thread
        }

        func turn(_ messages: [Message], readable: Set<Int32>) -> PollWait? {
            var isStale = self.watch.map { readable.contains($0.descriptor.number) } ?? false
            // inotify events are cleared before the folder is read, so that a later receiver causes a new event.
            self.watch?.reset()
            if let beat = self.nextBeat, beat <= .now() {
                self.nextBeat = .now() + Receivers.beat
                isStale = true
                // Each woken `EventStream` sends a ping. libmicrohttpd notices a closed connection only by sending, and
                // HTTP proxies close silent connections.
                self.log.wakeReaders()
            }
            for message in messages {
                switch message {
                case .watch:
                    self.begin()
                    isStale = true
                case .ended(let receiver):
                    self.watched.removeValue(forKey: receiver)?.thread.join()
                    // A receiver that already runs again causes no further event of the folder. The next beat finds it.
                    self.nextBeat = self.nextBeat.map { min($0, MonotonicInstant.now() + Receivers.pause) }
                case .ask(_, let answer) where self.thread.isStopping: answer(Receivers.stopped)
                case .ask(let question, let answer): answer(self.answer(question))
                }
            }
            if isStale, !self.thread.isStopping { self.watchReceivers() }
            var wait = PollWait(until: self.nextBeat)
            wait.watch(self.watch?.descriptor.number)
            return wait
        }

        func end(_ unread: [Message]) {
            for (client, _) in self.watched.values { client.interrupt() }
            for (_, thread) in self.watched.values { thread.join() }
            for case .ask(_, let answer) in unread { answer(Receivers.stopped) }
        }

        private func answer(_ question: Question) -> HTTPResponse {
            do throws(KiiFailure) {
                return .json(200, nil, try question(self.folder?.entries() ?? []))
            } catch {
                return error.response
            }
        }

        private func begin() {
            self.nextBeat = .now() + Receivers.beat
            guard let folder else { return }
            // After a failure here, the loop reads the folder only periodically.
            try? PrivateFile.makeDirectory(folder.path)
            self.watch = try? FileWatch(folder.path, for: IN_CREATE | IN_MOVED_TO)
        }

        /// If a receiver does not answer, the loop tries again when the folder changes, and periodically.
        private func watchReceivers() {
            for entry in self.folder?.entries() ?? [] where self.watched[entry.name] == nil {
                let client = try? ControlClient(stateDirectory: entry.stateDirectory, patience: Receivers.patience)
                guard let client else { continue }
                let reader = try? OSThread(name: "kii-receiver") { [log, verdicts, thread] in
                    Loop.follow(client, of: entry, log, verdicts)
                    thread.send(.ended(receiver: entry.name))
                }
                if let reader { self.watched[entry.name] = (client, reader) }
            }
        }

        private static func follow(
            _ client: ControlClient, of entry: ReceiverFolder.Entry, _ log: ActivityLog,
            _ verdicts: Locked<VerdictJoin?>
        ) {
            // If the connection ends or fails, the receiver counts as ended.
            try? client.watch { notice in
                switch notice {
                case .event(.message(let event)):
                    let deliveries = verdicts.withLock { $0?.take(event, of: entry.name) ?? [] }
                    for delivery in deliveries { log.append(.delivery(delivery), at: delivery.event.at) }
                case .event: break
                case .unknown: log.append(.missed(receiver: entry.name, count: 1))
                case .missed(let count): log.append(.missed(receiver: entry.name, count: count))
                }
            }
        }
    }
}
