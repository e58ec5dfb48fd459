import KiiPushCore

/// Counters of one agent, or of all agents of a gateway, from their events.
///
/// - Source: OpenTelemetry semantic conventions for messaging metrics: `messaging.client.consumed.messages`,
///   `messaging.process.duration`. Names without a convention begin with `kii_push`.
struct AgentMetrics {
    private(set) var received: UInt64 = 0
    private(set) var redelivered: UInt64 = 0
    private(set) var connections: UInt64 = 0
    private(set) var disconnections: UInt64 = 0
    private(set) var connected: Set<String> = []
    private(set) var troubled = TroubledAgents()
    private(set) var lateAnswers: UInt64 = 0
    private(set) var stuckHandlers: UInt64 = 0
    private(set) var settled: [String: UInt64] = [:]
    private(set) var durations: [Attempt: DurationHistogram] = [:]
    private var started: [MessageKey: ContinuousClock.Instant] = [:]

    /// The result of an attempt, as labels. The words are this program's own, so their number is limited.
    struct Attempt: Hashable {
        var outcome: String
        var errorType: String?
    }

    mutating func count(_ event: PushEvent, of agent: String = "", at now: ContinuousClock.Instant = .now) {
        _ = self.troubled.noted(event, of: agent)
        switch event {
        case .connected:
            self.connections += 1
            self.connected.insert(agent)
        case .disconnected, .stopping: self.disconnected(agent)
        case .message(let event): self.count(event.kind, MessageKey(agent: agent, id: event.messageID), at: now)
        default: break
        }
    }

    private mutating func disconnected(_ agent: String) {
        if self.connected.remove(agent) != nil { self.disconnections += 1 }
    }

    private mutating func count(_ kind: MessageEvent.Kind, _ message: MessageKey, at now: ContinuousClock.Instant) {
        switch kind {
        case .received: self.received += 1
        case .duplicate: self.redelivered += 1
        case .started: self.started[message] = now
        case .late, .done(_, _, isLate: true): self.lateAnswers += 1
        case .done(let result, _, isLate: false): self.end(message, result.word, settles: true, at: now)
        case .unreached: self.end(message, "unreached", settles: true, at: now)
        case .dismissed: self.end(message, "dismissed", settles: true, at: now)
        case .setAside: self.end(message, "setAside", settles: false, at: now)
        case .presented: self.end(message, "presented", settles: false, at: now)
        case .failed(_, let failure, _): self.end(message, "failed", failure.metricWord, settles: false, at: now)
        case .handedBack(let failure): self.end(message, "failed", failure.metricWord, settles: false, at: now)
        case .dead(let reason, _): self.end(message, "dead", reason.metricWord, settles: true, at: now)
        case .stuck: self.stuckHandlers += 1
        case .opened, .stored, .acknowledged, .isolated, .retried: break
        }
    }

    /// Counts the outcome of the message if `settles`, and the end of its attempt if an attempt was started.
    private mutating func end(
        _ message: MessageKey, _ outcome: String, _ errorType: String? = nil, settles: Bool,
        at now: ContinuousClock.Instant
    ) {
        if settles { self.settled[outcome, default: 0] += 1 }
        guard let start = self.started.removeValue(forKey: message) else { return }
        let attempt = Attempt(outcome: outcome, errorType: errorType)
        self.durations[attempt, default: DurationHistogram()].add(now - start)
    }
}

struct DurationHistogram: Hashable {
    /// The upper bounds of the buckets. `text` is in seconds.
    ///
    /// - Source: OpenTelemetry's advice for `messaging.process.duration`.
    static let bounds: [(text: String, limit: Duration)] = [
        ("0.005", 5), ("0.01", 10), ("0.025", 25), ("0.05", 50), ("0.075", 75), ("0.1", 100), ("0.25", 250),
        ("0.5", 500), ("0.75", 750), ("1", 1000), ("2.5", 2500), ("5", 5000), ("7.5", 7500), ("10", 10_000),
    ].map { ($0, .milliseconds($1)) }

    private(set) var counts = [UInt64](repeating: 0, count: Self.bounds.count)
    private(set) var count: UInt64 = 0
    private(set) var sum = Duration.zero

    mutating func add(_ duration: Duration) {
        self.count += 1
        self.sum += duration
        for (index, bound) in Self.bounds.enumerated() where duration <= bound.limit { self.counts[index] += 1 }
    }
}

extension DeliveryFailure {
    fileprivate var metricWord: String {
        switch self {
        case .failed: "failed"
        case .threw: "threw"
        case .unanswered: "unanswered"
        case .timedOut: "timedOut"
        }
    }
}

extension DeadLetterReason {
    fileprivate var metricWord: String {
        switch self {
        case .attemptsFailed(let failure): failure.metricWord
        case .rejected: "rejected"
        case .crashed: "crashed"
        case .undecodable: "undecodable"
        case .command: "command"
        case .unexpectedTopic: "unexpectedTopic"
        case .oversized: "oversized"
        case .other: "other"
        }
    }
}
