/// One message's life, as the inbox's file has recorded it.
///
/// What happened is written together with what the message came to, so that the record costs nothing: between the two
/// it is not there yet, and what a process had not written when it ended is not there at all. ``missing`` says so.
public struct MessageTrace: Sendable, Hashable {
    /// Something that happened to the message.
    public struct Event: Sendable, Hashable {
        /// When, on this machine's calendar.
        public var at: Timestamp
        /// What.
        public var kind: Kind

        /// Makes an event.
        public init(_ kind: Kind, at: Timestamp) {
            self.at = at
            self.kind = kind
        }
    }

    /// What may happen to a message. New cases may be added.
    public enum Kind: Sendable, Hashable {
        /// It came in.
        case received
        /// The transaction that stored it began.
        case stored
        /// Its acknowledgement was sent to the broker.
        case acknowledged
        /// The broker delivered it again. That was acknowledged too, and nothing else.
        case duplicate
        /// It was in hand when a process ended, so this attempt was to run alone.
        case isolated(attempt: Int)
        /// Its handler was called: attempt 1, 2, …
        case started(attempt: Int)
        /// The attempt failed like this (a ``DeliveryFailure``); the next one was to follow after the pause.
        case failed(attempt: Int, failure: String, pause: Duration)
        /// Its handler answered with a success, or there was nobody to call; a late answer came after the attempt's time.
        case done(FetchResult, attempt: Int, isLate: Bool)
        /// It was shown to the user.
        case presented
        /// The user opened what showed it; attempts are counted from 1 again.
        case opened(UserAction)
        /// It was given up on, for this reason (a ``DeadLetterReason``); after an attempt, or without one.
        case dead(reason: String, attempt: Int?)
        /// A person had it tried again; attempts are counted from 1 again.
        case retriedByHand
    }

    /// Where the message stands.
    public enum State: Sendable, Hashable {
        /// It waits until there is room for it in memory.
        case waiting
        /// It was handed to delivery, then or by then.
        case running(since: Timestamp)
        /// Its last attempt failed, and the next is due then.
        case waitingForRetry(due: Timestamp)
        /// It is shown to the user, who has not reacted.
        case presented
        /// It is done.
        case done
        /// It is a dead letter, for this reason (a ``DeadLetterReason``).
        case dead(reason: String)
    }

    /// The states by name, for ``InboxReader/messages(_:after:limit:)``.
    public enum Standing: String, Sendable, Hashable, CaseIterable {
        /// ``State/waiting``.
        case waiting
        /// ``State/running(since:)``.
        case running
        /// ``State/waitingForRetry(due:)``.
        case retry
        /// ``State/presented``.
        case presented
        /// ``State/done``.
        case done
        /// ``State/dead(reason:)``.
        case dead
    }

    /// Something that happened, or must have, and is not in the record.
    public enum Gap: Sendable, Hashable {
        /// When it was stored: an older version of this library has stored it.
        case storing
        /// Whether and when it was acknowledged: the process ended before that was written, or the connection before it
        /// was sent; or an older version of this library was at work.
        case acknowledgement
        /// When it was answered, and with what: an older version of this library was at work.
        case answer
        /// What came after the last event: the record is full, or cannot be read on.
        case laterEvents
    }

    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// The installation that received it; `nil` if that is unknown.
    public var installationID: String?
    /// The MQTT topic it came on.
    public var topic: String
    /// The payload as it came; of an oversized message its beginning.
    public var payload: [UInt8]
    /// How long the payload was in bytes, if ``payload`` is only its beginning.
    public var originalLength: Int?
    /// The quality of service it came with, 0 to 2.
    public var qualityOfService: Int
    /// Whether the broker marked it as a possible redelivery (DUP) when it first came.
    public var isMarkedDuplicate: Bool
    /// Whether the broker had kept it as the topic's retained message.
    public var isRetained: Bool
    /// MQTT's packet identifier; `nil` at QoS 0.
    public var packetID: Int?
    /// Which connection it came on: rises with every connection of the installation.
    public var connection: Int64
    /// When it came in; the first event.
    public var receivedAt: Timestamp
    /// Where it stands.
    public var state: State
    /// What happened, in the order of time.
    public var events: [Event]
    /// What is not among the events.
    public var missing: [Gap]

    init(_ record: InboxRecord) {
        let message = record.row.message
        self.messageID = record.row.sequence
        self.installationID = record.installationID
        self.topic = message.topic
        self.payload = message.payload
        self.originalLength = message.originalLength
        self.qualityOfService = Int(message.qos)
        self.isMarkedDuplicate = message.duplicate
        self.isRetained = message.retain
        self.packetID = message.packetID.map { Int($0) }
        self.connection = message.connection
        self.receivedAt = message.receivedAt
        self.state = State(record.row)
        self.events = record.events
        self.missing = record.gaps
    }
}

extension MessageTrace.State {
    fileprivate init(_ row: StoredRow) {
        self =
            switch row.state {
            case .waiting: .waiting
            case .inHand: .running(since: row.updatedAt)
            case .retry: .waitingForRetry(due: row.nextAttempt ?? row.updatedAt)
            case .presented: .presented
            case .done: .done
            case .dead: .dead(reason: row.message.reason ?? "")
            }
    }
}

extension InboxRecord {
    fileprivate var events: [MessageTrace.Event] {
        var events = [MessageTrace.Event(.received, at: self.row.message.receivedAt)]
        if let storedAt { events.append(.init(.stored, at: storedAt)) }
        if let acknowledgedAt { events.append(.init(.acknowledged, at: acknowledgedAt)) }
        for entry in self.trail { events += entry.events }
        if let answer {
            let attempt = max(1, self.row.attempts)
            if let startedAt { events.append(.init(.started(attempt: attempt), at: startedAt)) }
            events.append(.init(.done(answer.result, attempt: attempt, isLate: false), at: self.row.updatedAt))
        }
        // What happened in one millisecond stays in the order in which it had to happen.
        return events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    fileprivate var gaps: [MessageTrace.Gap] {
        var gaps: [MessageTrace.Gap] = []
        if self.storedAt == nil { gaps.append(.storing) }
        // Written with the first thing that becomes of the message.
        let isWritten = self.row.state != .waiting && self.row.state != .inHand
        if isWritten, self.row.message.packetID != nil, self.acknowledgedAt == nil { gaps.append(.acknowledgement) }
        let endedLate = self.trail.contains { if case .late = $0.event { true } else { false } }
        if self.row.state == .done, self.answer == nil, !endedLate { gaps.append(.answer) }
        if !self.isTrailWhole { gaps.append(.laterEvents) }
        return gaps
    }
}

extension RowTrail.Entry {
    /// The entry, and the start that it remembers.
    fileprivate var events: [MessageTrace.Event] {
        func started(_ attempt: Int?, _ at: Timestamp?) -> [MessageTrace.Event] {
            guard let attempt, let at else { return [] }
            return [.init(.started(attempt: attempt), at: at)]
        }
        switch self.event {
        case .duplicate: return [.init(.duplicate, at: self.at)]
        case .isolated(let attempt): return [.init(.isolated(attempt: attempt), at: self.at)]
        case .failed(let attempt, let startedAt, let failure, let pause):
            let event = MessageTrace.Kind.failed(attempt: attempt, failure: failure, pause: pause)
            return started(attempt, startedAt) + [.init(event, at: self.at)]
        case .presented(let attempt, let startedAt):
            return started(attempt, startedAt) + [.init(.presented, at: self.at)]
        case .dead(let attempt, let startedAt, let reason):
            return started(attempt, startedAt) + [.init(.dead(reason: reason, attempt: attempt), at: self.at)]
        case .late(let attempt, let answer):
            return [.init(.done(answer.result, attempt: attempt, isLate: true), at: self.at)]
        case .opened(let choice): return [.init(.opened(UserAction(stored: choice)), at: self.at)]
        case .requeued: return [.init(.retriedByHand, at: self.at)]
        }
    }
}

extension RowAnswer {
    fileprivate var result: FetchResult {
        switch self {
        case .newData: .newData
        case .noData: .noData
        }
    }
}
