import KiiPushCore
import Testing

/// What tests wait for, in the order of its coming. Waiting is an event, never a sleep.
final class Journal<Entry: Sendable & Equatable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var entries: [Entry] { self.state.withLock { $0.entries } }

    func add(_ entry: Entry) {
        let ready = self.state.withLock { state in
            state.entries.append(entry)
            let ready = state.waiters.filter { $0.count <= state.entries.count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= state.entries.count }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }

    /// Waits until there are `count` entries, and returns the first of them.
    @discardableResult
    func first(_ count: Int) async -> [Entry] {
        await withCheckedContinuation { continuation in
            let isReady = self.state.withLock { state in
                if state.entries.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
        return Array(self.entries.prefix(count))
    }
}

/// A store in memory that is as quick as can be, and remembers what it was told, but for when attempts ran.
final class JournalStore: DeliveryStore {
    let changes = Journal<DeliveryChange>()
    let loads = Journal<DeliveryLoad>()

    /// The verdicts, without what only says that a message is in hand.
    var verdicts: [DeliveryChange.Verdict] {
        self.changes.entries.map(\.verdict).filter { $0 != .inHand }
    }

    func record(_ changes: [DeliveryChange]) {
        for change in changes { self.changes.add(change.untimed) }
    }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.record(changes)
        committed()
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        self.loads.add(request)
        deliver(DeliveryPage(messages: [], isComplete: true))
    }
}

/// A clock that stands still until it is moved.
final class TestClock: Sendable {
    private let time = Locked(MonotonicInstant.seconds(1000))

    var now: MonotonicInstant { self.time.withLock { $0 } }

    func advance(_ duration: Duration, _ runner: DeliveryRunner) {
        self.advanceUnseen(duration)
        runner.timeChanged()
    }

    /// Moves the clock and tells nobody.
    func advanceUnseen(_ duration: Duration) { self.time.withLock { $0 = $0 + duration } }
}

/// Calls a closure for each message.
struct ClosureHandler: RemoteNotificationHandler {
    let body: @Sendable (ReceivedMessage, DeliveryContext, FetchCompletion) -> Void

    init(_ body: @escaping @Sendable (ReceivedMessage, DeliveryContext, FetchCompletion) -> Void) { self.body = body }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.body(message, context, completion)
    }
}

struct AsyncClosureHandler: AsyncRemoteNotificationHandler {
    let body: @Sendable (ReceivedMessage, DeliveryContext) async throws -> FetchResult

    init(_ body: @escaping @Sendable (ReceivedMessage, DeliveryContext) async throws -> FetchResult) {
        self.body = body
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext
    ) async throws -> FetchResult {
        try await self.body(message, context)
    }
}

struct TestReceiver: KiiPushCore.Receiver {
    var handler: any NotificationHandler
    var routing: @Sendable (ReceivedMessage, DeliveryContext) -> DeliveryRoute = { _, _ in .handler }

    func route(_ message: ReceivedMessage, context: DeliveryContext) -> DeliveryRoute {
        self.routing(message, context)
    }
}

extension StoredMessage {
    /// A push to the topic `source` of the app.
    static func push(_ sequence: Int64, source: String = "a") -> StoredMessage {
        let text = #"{"topic":"\#(source)","objectScopeType":"APP","objectScopeAppID":"x","n":"\#(sequence)"}"#
        return StoredMessage(
            sequence: sequence, installation: 1, topic: "t", payload: [UInt8](text.utf8), receivedAt: .at(5))
    }
}

/// A runner with its store, attached, and its clock.
struct RunnerFixture {
    let store = JournalStore()
    let clock: TestClock
    let runner: DeliveryRunner

    init(
        _ handler: any NotificationHandler, observer: (any DeliveryObserver)? = nil,
        _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) {
        self.init(TestReceiver(handler: handler), observer: observer, change)
    }

    init(
        _ receiver: TestReceiver, observer: (any DeliveryObserver)? = nil, clock: TestClock = TestClock(),
        threads: DeliveryThreads = .init(), _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) {
        var configuration = DeliveryConfiguration()
        change(&configuration)
        self.clock = clock
        self.runner = DeliveryRunner(
            configuration: configuration, store: self.store, observer: observer, threads: threads,
            clock: { clock.now })
        self.runner.attach(installation: 1, id: "installation-1", receiver: receiver)
    }

    /// Delivers as if there had been room, which is asked for only when the store has been read.
    func deliver(_ messages: [StoredMessage]) {
        self.runner.release(-messages.count)
        self.runner.deliver(messages)
    }
}
