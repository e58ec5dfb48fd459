import Glibc
package import KiiPushCore

/// Decides which messages the running process gets, and when to start and end a process.
///
/// The queue starts no processes and reads no clock. The caller reports events, and carries out the orders of
/// ``takeOrders()``.
///
/// A program gets one message at a time, or as many as its `ready` line says. An exit status answers only the message
/// that the program was started with: the program may never have read later messages.
package struct ActivationQueue: Sendable {
    package struct Entry: Sendable, Hashable {
        /// Two attempts of one message have different numbers.
        package var number: Int
        package var id: Int64
        package var deadline: MonotonicInstant
    }

    /// A step for the caller. Each number is an ``Entry/number``.
    package enum Order: Sendable, Hashable {
        case start(with: Int)
        case send(Int)
        case answer(Int, ActivationVerdict)
        case fail(Int, reason: String)
        /// The program could not be started now. The attempt does not count.
        case postpone(Int, reason: String)
        case closeInput
        case end(signal: Int32)
    }

    private struct Process {
        let first: Int
        var capacity = 1
        var isReady = false
        var readsNoMore = false
        var ending = Ending.no

        func answersByEnding(_ entry: Entry) -> Bool {
            guard entry.number == self.first, !self.isReady else { return false }
            return switch self.ending {
            case .no, .asked: true
            case .told, .killed: false
            }
        }
    }

    private enum Ending: Hashable {
        case no
        case asked(tellAt: MonotonicInstant)
        case told(killAt: MonotonicInstant)
        case killed
    }

    static let stopped = "the activator was stopped"
    private static let timedOut = "the program did not answer in time"
    /// The most messages whose late answers are still accepted.
    private static let mostOverdue = 100
    private static let late = "it waited too long for the program, which had others"

    private let takesOneMessage: Bool
    private let grace: Duration
    private var waiting: [Entry] = []
    private var sent: [Entry] = []
    private var overdue: [Entry] = []
    private var process: Process?
    private var isStopping = false
    private var orders: [Order] = []

    /// - Parameters:
    ///   - takesOneMessage: whether each process gets only one message.
    ///   - grace: the time from SIGTERM to SIGKILL. A program that sent `ready` also has this time after a message's
    ///     deadline to report the message as late.
    package init(takesOneMessage: Bool, grace: Duration) {
        self.takesOneMessage = takesOneMessage
        self.grace = grace
    }

    package mutating func takeOrders() -> [Order] {
        defer { self.orders = [] }
        return self.orders
    }

    package var isIdle: Bool { self.process == nil && self.waiting.isEmpty }

    package mutating func deliver(_ entry: Entry, now: MonotonicInstant) {
        guard !self.isStopping else { return self.orders.append(.fail(entry.number, reason: Self.stopped)) }
        // A new attempt ends the wait for the late answer to the earlier attempt.
        self.giveUp { $0.id == entry.id }
        self.waiting.append(entry)
        self.timePassed(now: now)
    }

    package mutating func received(_ answer: ActivationAnswer, now: MonotonicInstant) {
        switch answer {
        case .ready(let count, _):
            self.process?.isReady = true
            self.process?.capacity = count
        case .verdict(let id, let verdict):
            let entry = self.sent.removeFirst(id: id) ?? (verdict.isSuccess ? self.overdue.removeFirst(id: id) : nil)
            if let entry { self.orders.append(.answer(entry.number, verdict)) }
        case .late(let id):
            guard let entry = self.sent.removeFirst(id: id) else { break }
            self.overdue.append(entry)
            if self.overdue.count > Self.mostOverdue { self.giveUp { [first = self.overdue[0]] in $0 == first } }
        case .state, .badge: break
        }
        self.timePassed(now: now)
    }

    private mutating func giveUp(_ isGivenUp: (Entry) -> Bool) {
        self.orders += self.overdue.filter(isGivenUp).map { .fail($0.number, reason: Self.timedOut) }
        self.overdue.removeAll(where: isGivenUp)
    }

    package mutating func inputClosed() { self.process?.readsNoMore = true }

    /// - Parameter isShortage: whether the machine lacks a resource, such as memory. The attempts then do not count.
    package mutating func startFailed(reason: String, isShortage: Bool = false, now: MonotonicInstant) {
        self.processIsGone(now: now) {
            isShortage ? .postpone($0.number, reason: reason) : .fail($0.number, reason: reason)
        }
    }

    package mutating func ended(_ ending: ChildProcess.Ending, now: MonotonicInstant) {
        let process = self.process
        self.processIsGone(now: now) { entry in
            // If the activator ended the program with a signal, the exit status is no verdict on the message.
            if process?.answersByEnding(entry) == true, let verdict = ActivationVerdict(ending) {
                return .answer(entry.number, verdict)
            }
            return .fail(entry.number, reason: "the program ended without an answer: \(ending)")
        }
    }

    private mutating func processIsGone(now: MonotonicInstant, _ order: (Entry) -> Order) {
        self.orders += self.sent.map(order)
        self.sent = []
        self.giveUp { _ in true }
        self.process = nil
        self.timePassed(now: now)
    }

    package mutating func stop(now: MonotonicInstant) {
        guard !self.isStopping else { return }
        self.isStopping = true
        self.orders += self.waiting.map { .fail($0.number, reason: Self.stopped) }
        self.waiting = []
        guard self.process?.ending == .no else { return }
        self.process?.ending = .asked(tellAt: now + self.grace)
        self.orders.append(.closeInput)
    }

    package mutating func timePassed(now: MonotonicInstant) {
        self.expire(now: now)
        guard self.process != nil else { return self.start() }
        while let index = self.nextToSend {
            let entry = self.waiting.remove(at: index)
            self.sent.append(entry)
            self.orders.append(.send(entry.number))
        }
    }

    package var nextDeadline: MonotonicInstant? {
        var instants = self.waiting.map(\.deadline)
        switch self.process?.ending {
        case .no: instants += self.sent.map { self.limit(of: $0) }
        case .asked(let instant), .told(let instant): instants.append(instant)
        case .killed, nil: break
        }
        return instants.min()
    }

    private mutating func start() {
        guard !self.isStopping, !self.waiting.isEmpty else { return }
        let entry = self.waiting.removeFirst()
        self.process = Process(first: entry.number, readsNoMore: self.takesOneMessage)
        self.sent = [entry]
        self.orders.append(.start(with: entry.number))
    }

    private var nextToSend: Int? {
        guard let process, !process.readsNoMore, process.ending == .no, self.sent.count < process.capacity else {
            return nil
        }
        // Sends no second attempt of a message while the first is unanswered.
        return self.waiting.firstIndex { entry in !self.sent.contains { $0.id == entry.id } }
    }

    private mutating func expire(now: MonotonicInstant) {
        let late = self.waiting.filter { $0.deadline <= now }
        self.waiting.removeAll { $0.deadline <= now }
        self.orders += late.map { .fail($0.number, reason: Self.late) }
        // An idle process that reads no more messages but does not end would block all messages.
        let isInTheWay = !late.isEmpty && self.sent.isEmpty && self.process?.readsNoMore == true
        switch self.process?.ending {
        case .no where isInTheWay || self.sent.contains { self.limit(of: $0) <= now },
            .asked(...now):
            self.process?.ending = .told(killAt: now + self.grace)
            self.orders.append(.end(signal: SIGTERM))
        case .told(...now):
            self.process?.ending = .killed
            self.orders.append(.end(signal: SIGKILL))
        default: break
        }
    }

    /// A process that sent `ready` has ``grace`` more, to report the message as late.
    private func limit(of entry: Entry) -> MonotonicInstant {
        self.process?.isReady == true ? entry.deadline + self.grace : entry.deadline
    }
}

extension [ActivationQueue.Entry] {
    fileprivate mutating func removeFirst(id: Int64) -> ActivationQueue.Entry? {
        self.firstIndex { $0.id == id }.map { self.remove(at: $0) }
    }
}
