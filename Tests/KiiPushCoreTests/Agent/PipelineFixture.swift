@testable import KiiPushCore

/// A loop whose turns the test takes, on its own thread and with its own clock.
final class ManualLoop: Loop {
    let clock = TestClock()
    let clocks: Clocks
    private(set) var now: MonotonicInstant
    weak var turnDelegate: (any TurnDelegate)?
    private let timers = TimerHeap()

    init() {
        let clock = self.clock
        self.now = clock.now
        self.clocks = Clocks(monotonic: { clock.now }, calendarNanoseconds: { clock.now.nanoseconds })
    }

    func openStream(
        _ target: StreamTarget, sendTimeout: Duration?, isInspected: Bool, delegate: any ByteStreamDelegate
    ) -> any ByteStream {
        preconditionFailure("nobody connects here")
    }

    @discardableResult
    func schedule(at deadline: MonotonicInstant, _ body: @escaping () -> Void) -> TimerID {
        self.timers.schedule(at: deadline, body)
    }

    func cancel(_ timer: TimerID) { self.timers.cancel(timer) }

    var nextTurn: MonotonicInstant? { self.timers.nextDeadline() }

    func turn() {
        self.now = self.clock.now
        let horizon = self.timers.horizon
        while let body = self.timers.popDue(at: self.now, before: horizon) { body() }
        self.turnDelegate?.commit()
        self.turnDelegate?.afterCommit()
    }

    func turns() {
        for _ in 0..<1000 {
            self.turn()
            guard let next = self.timers.nextDeadline(), next <= self.clock.now else { return }
        }
        preconditionFailure("the loop does not come to rest")
    }
}

final class TestPipeline {
    let loop: ManualLoop
    let pipeline: Pipeline
    let worker: Worker
    let called = Journal<Int64>()
    let held = Locked<[FetchCompletion]>([])
    private let listener = JournalListener()
    private let receiver: TestReceiver

    /// - Parameter answer: `nil` from the handler keeps the completion.
    init(
        _ store: any Store, on loop: ManualLoop, _ configuration: DeliveryConfiguration = .init(),
        limits: BackPressure.Limits = .file, isAttached: Bool = true,
        _ answer: @escaping @Sendable (DeliveryContext) -> FetchResult? = { _ in .newData }
    ) {
        let clock = loop.clock
        self.loop = loop
        self.pipeline = Pipeline(
            store: store, on: loop, configuration: configuration, limits: limits, clock: { clock.now },
            observer: self.listener.observer, wake: {}, threads: .none(onWork: {}))
        self.worker = self.pipeline.workers.makeWorker()
        self.receiver = TestReceiver(
            handler: ClosureHandler { [called = self.called, held = self.held] _, context, completion in
                called.add(context.messageID)
                if let result = answer(context) { completion(result) } else { held.withLock { $0.append(completion) } }
            })
        loop.turnDelegate = self.pipeline
        if isAttached {
            self.attach()
            loop.turns()
        }
    }

    var reports: [String] {
        self.listener.others.withLock { $0 }.map { event in
            switch event {
            case .trouble(.storing, _): "not storing"
            case .recovered(.storing): "storing again"
            case .notice(.historyCut, _, let messages?): "history cut \(messages)"
            default: "\(event)"
            }
        }
    }

    var events: [MessageEvent.Kind] { self.listener.events.entries.map(\.kind) }

    func attach() { self.pipeline.attach(installation: 1, id: "installation-1", receiver: self.receiver) }

    static func push(_ source: String = "a") -> String {
        #"{"topic":"\#(source)","objectScopeType":"APP","objectScopeAppID":"x"}"#
    }

    func receive(_ text: String = TestPipeline.push(), on link: TestLink, ticket: UInt64, duplicate: Bool = false) {
        let message = MQTTSession.InboundMessage(
            topic: link.topic, payload: [UInt8](text.utf8), qos: .atLeastOnce, duplicate: duplicate,
            packetID: UInt16(ticket), ticket: ticket)
        self.pipeline.received(Arrival(link: link, message: message, connection: 1, receivedAt: .at(5)))
    }

    func work() {
        while self.worker.hasCall || self.worker.takeCall() {
            while self.worker.hasCall, self.worker.makeCall() == .returned { self.worker.callReturned() }
            self.loop.turns()
        }
    }

    func advance(_ duration: Duration) {
        self.loop.clock.advance(duration)
        self.loop.turns()
    }

    func answer(_ result: FetchResult) -> Bool {
        let completion: FetchCompletion? = self.held.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return completion?(result) ?? false
    }
}

final class FlakyStore: Store {
    private let store: any Store
    var failures: [InboxError] = []
    var removable: Int?
    var takesNoArrivals = false
    /// Whether something was noted that no commit has written.
    var hasMoreToWrite = false
    private(set) var noted: [Int64] = []
    private(set) var commits = 0

    init(_ store: any Store) { self.store = store }

    var isDurable: Bool { self.store.isDurable }
    var pendingBytes: Int64 { self.store.pendingBytes }
    var commitBytes: Int64? { self.takesNoArrivals ? 4096 : nil }

    func fail(times: Int, _ kind: InboxError.Kind = .io) {
        self.failures = Array(repeating: InboxError(kind, step: "testing"), count: times)
    }

    func commit(_ turn: Turn, completion: @escaping (Result<TurnOutcome, InboxError>) -> Void) {
        self.commits += 1
        guard self.failures.isEmpty else { return completion(.failure(self.failures.removeFirst())) }
        guard !self.takesNoArrivals || turn.arrivals.isEmpty else {
            return completion(.failure(InboxError(.full, step: "testing")))
        }
        self.hasMoreToWrite = false
        self.store.commit(turn, completion: completion)
    }

    func makeRoom() -> Int? { self.removable }
    func proven(installation: Int64, through sequence: Int64) { self.noted.append(sequence) }
    func doubt(installation: Int64, through sequence: Int64) { self.noted.append(sequence) }

    // MARK: - Decisions

    func message(_ sequence: Int64, completion: @escaping StoreCompletion<StoredMessage?>) {
        let message = StoredMessage(
            sequence: sequence, installation: 1, topic: "t", payload: [], receivedAt: .at(5), state: .inHand)
        completion(.success(message))
    }

    func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>) {
        completion(.failure(InboxError(.full, step: "testing")))
    }

    func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>) {
        completion(.failure(InboxError(.full, step: "testing")))
    }

    func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) { self.store.installation(id: id, of: owner, agent: agent, completion: completion) }
}
