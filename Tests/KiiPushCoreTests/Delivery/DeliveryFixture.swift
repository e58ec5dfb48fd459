@testable import KiiPushCore

/// Entries in the order of their arrival. A test can wait for entries without sleeping.
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

final class TestClock: Sendable {
    private let time = Locked(MonotonicInstant.seconds(1000))

    var now: MonotonicInstant { self.time.withLock { $0 } }

    func set(_ time: MonotonicInstant) { self.time.withLock { $0 = time } }

    func advance(_ duration: Duration) { self.time.withLock { $0 = $0 + duration } }
}

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

    func state(of message: QueuedMessage) -> LifecycleState {
        message.openedBy?.opensProgram == true ? .inactive : .active
    }

    func route(_ message: ReceivedMessage, context: DeliveryContext) -> DeliveryRoute {
        self.routing(message, context)
    }
}

final class JournalListener: Sendable {
    let events = Journal<MessageEvent>()
    /// Reasons for fewer handlers, and "recovered".
    let stalls = Journal<String>()
    let others = Locked<[PushEvent]>([])
    let observer: HubObserver

    init(installation: Int64 = 1) {
        let (hub, listeners) = (EventHub(), Locked(1))
        self.observer = HubObserver(hubs: Locked([installation: hub]), keeping: .file, listeners: listeners)
        hub.observe { [events = self.events, stalls = self.stalls, others = self.others] event in
            switch event {
            case .message(let event): events.add(event)
            case .trouble(.handling, let reason): stalls.add(reason)
            case .recovered(.handling): stalls.add("recovered")
            default: others.withLock { $0.append(event) }
            }
        }
    }
}

/// A store in memory that records all changes without the times of attempts. The test can insert messages.
final class JournalStore: Store, Sendable {
    let changes = Journal<MessageChange>()
    private let rows = Locked(TestRows())
    private let clock: TestClock

    init(_ clock: TestClock) { self.clock = clock }

    var isDurable: Bool { true }
    var pendingBytes: Int64 { 0 }
    var verdicts: [MessageChange.Verdict] { self.changes.entries.map(\.verdict) }

    func insert(_ messages: [StoredMessage]) {
        self.rows.withLock { rows in for message in messages { rows.insert(message) } }
    }

    func standing(_ sequence: Int64) -> TestRows.Standing? { self.rows.withLock { $0[sequence] } }

    func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) { completion(.success(1)) }

    func commit(_ turn: Turn, completion: @escaping (Result<TurnOutcome, InboxError>) -> Void) {
        var outcome = TurnOutcome()
        let (now, changes, claims) = (self.clock.now, turn.changes, turn.claims)
        let appeared = self.rows.withLock { $0.apply(changes, at: now) }
        outcome.appeared = appeared.map {
            .init(sequence: $0.sequence, installation: $0.installation, source: $0.source)
        }
        for arrival in turn.arrivals { outcome.arrivals.append(.new(self.store(arrival))) }
        outcome.answers = self.rows.withLock { rows in
            var answers: [StoreAnswer] = []
            for claim in claims { answers.append(rows.answer(claim, at: now)) }
            return answers
        }
        for change in changes { self.changes.add(change.untimed) }
        completion(.success(outcome))
    }

    private func store(_ arrival: Arrival) -> Int64 {
        let source = arrival.content.source
        let received = StoredMessage(
            sequence: 0, installation: arrival.link.installation, topic: arrival.message.topic,
            payload: arrival.message.payload, receivedAt: arrival.receivedAt, source: source)
        let standing: TestRows.Standing = source == nil ? .dead : arrival.isInHand ? .inHand : .waiting
        return self.rows.withLock { rows in
            let sequence = rows.lastSequence + 1
            rows.insert(received.with { $0.sequence = sequence }, standing)
            return sequence
        }
    }
}

final class DeliveryFixture: Sendable {
    let store: JournalStore
    let clock: TestClock
    let listener: JournalListener
    let loop: EventLoop
    let pipeline: LoopIsolated<Pipeline>
    let workers: Workers

    convenience init(
        _ handler: any NotificationHandler, _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) async throws {
        try await self.init(TestReceiver(handler: handler), change)
    }

    init(
        _ receiver: any KiiPushCore.Receiver, clock: TestClock = TestClock(), threads: DeliveryThreads = .init(),
        _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) async throws {
        var configuration = DeliveryConfiguration()
        change(&configuration)
        let (store, listener, loop) = (JournalStore(clock), JournalListener(), try EventLoop())
        (self.clock, self.store, self.listener, self.loop) = (clock, store, listener, loop)
        (self.pipeline, self.workers) = try await loop.run { [configuration] in
            let pipeline = Pipeline(
                store: store, on: loop, configuration: configuration, limits: .file, clock: { clock.now },
                observer: listener.observer, wake: { [weak loop] in _ = loop?.submit {} }, threads: threads)
            loop.setTurnDelegate(pipeline)
            pipeline.attach(installation: 1, id: "installation-1", receiver: receiver)
            return (LoopIsolated(confining: pipeline, to: loop), pipeline.workers)
        }
    }

    deinit { self.end() }

    func end() {
        self.workers.shutdown()
        self.loop.shutdown()
    }

    func deliver(_ messages: [StoredMessage]) {
        self.loop.submit { [store = self.store, pipeline = self.pipeline] in
            store.insert(messages)
            for message in messages { pipeline.value.appeared(message) }
        }
    }

    func receive(_ text: String, topic: String = "t", originalLength: Int? = nil) {
        self.loop.submit { [pipeline = self.pipeline] in
            let message = MQTTSession.InboundMessage(
                topic: topic, payload: [UInt8](text.utf8), truncatedLength: originalLength)
            pipeline.value.received(
                Arrival(link: TestLink(), message: message, connection: 1, receivedAt: .at(5)))
        }
    }

    func advance(_ duration: Duration) async {
        self.clock.advance(duration)
        await self.settle()
    }

    /// Waits until delivery has done everything except the work of handlers.
    func settle() async { _ = await self.wait(for: .writing).value() }

    /// - Parameter limit: a duration on the test's clock.
    func wait(for event: Wait.Event, within limit: Duration = .seconds(1_000_000)) -> OneShot<Bool> {
        let hasCome = OneShot<Bool>()
        let deadline = self.clock.now + limit
        let isAccepted = self.loop.submit { [pipeline = self.pipeline] in
            pipeline.value.wait(for: event, until: deadline) { hasCome.resume($0) }
        }
        if !isAccepted { hasCome.resume(false) }
        return hasCome
    }

    func detach() { self.loop.submit { [pipeline = self.pipeline] in pipeline.value.detach(installation: 1) } }
    func drain() { self.loop.submit { [pipeline = self.pipeline] in pipeline.value.drain() } }

    /// Without the events of the current turn.
    var events: [MessageEvent.Kind] { self.listener.events.entries.map(\.kind) }

    var memoryWeight: Int {
        get async throws {
            try await self.loop.run { [pipeline = self.pipeline] in pipeline.value.scheduler.memoryWeight }
        }
    }
}

final class TestLink: MessageLink, Sendable {
    let installation: Int64
    let topic: String
    let acknowledged = Journal<UInt64>()
    /// The row that a message with DUP may repeat.
    let candidate = Locked<Int64?>(nil)
    private let state = Locked<(isQueued: Bool, unsent: [UInt64])>((false, []))

    init(installation: Int64 = 1, topic: String = "t") {
        self.installation = installation
        self.topic = topic
    }

    var isQueuedForFlush: Bool {
        get { self.state.withLock { $0.isQueued } }
        set { self.state.withLock { $0.isQueued = newValue } }
    }

    func redeliveryCandidate(of arrival: Arrival) -> Int64? {
        arrival.message.duplicate ? self.candidate.withLock { $0 } : nil
    }

    func absorbs(_ row: Int64) {}
    func inserted(_ row: Int64, _ arrival: Arrival) {}
    func forgetAbsorptions() {}
    func stored(_ row: Int64, _ arrival: Arrival) {}
    func absorbed(_ row: Int64, _ arrival: Arrival) {}
    func isLatest(_ arrival: Arrival) -> Bool { true }
    func isCurrent(_ arrival: Arrival) -> Bool { true }
    func acknowledge(_ ticket: UInt64) { self.state.withLock { $0.unsent.append(ticket) } }

    func acknowledgeThrough(_ ticket: UInt64) {
        let first = (self.acknowledged.entries.last ?? 0) + 1
        self.state.withLock { $0.unsent = first <= ticket ? Array(first...ticket) : [] }
    }

    func flush() {
        let tickets = self.state.withLock { state in
            defer { state.unsent = [] }
            return state.unsent
        }
        for ticket in tickets { self.acknowledged.add(ticket) }
    }
}
