/// The inbox's record of one message: its state, its attempts and its events.
///
/// The inbox writes an event together with the message's next outcome. If the process ends before that, the record
/// lacks the event.
public struct MessageRecord: Sendable, Hashable {
    /// The state of a message.
    public enum State: Sendable, Hashable {
        /// The message is stored and waits for delivery, such as for room in memory or for its agent to run.
        case waiting
        /// The message has been in delivery since this time, or longer.
        case running(since: Timestamp)
        /// The last attempt failed, and the next one is due at this time.
        case waitingForRetry(due: Timestamp)
        /// A notification shows the message, and the user has not reacted.
        case presented
        /// The message was handled, or had no handler to call.
        case done
        /// The message is a dead letter: delivery gave up on it for this reason.
        case dead(reason: DeadLetterReason)
    }

    /// Names of the states, as a filter for ``InboxReader/messages(_:after:limit:)``.
    package enum Standing: String, Sendable, Hashable, CaseIterable {
        /// `retry` is ``State/waitingForRetry(due:)``; the others have the names of ``State``.
        case waiting, running, retry, presented, done, dead
    }

    /// An event that should be in the record, and is not.
    package enum Gap: Sendable, Hashable {
        /// The time of storing is missing, since the inbox was damaged.
        case storing
        /// The acknowledgement is missing: the process ended before the inbox recorded it, or the connection ended
        /// before the agent sent it.
        case acknowledgement
        /// The handler's answer is missing, since the inbox was damaged.
        case answer
        /// Other events are missing: there were more than 256, or a part of the record is unreadable.
        case laterEvents
    }

    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// The installation that received the message; `nil` if a damaged inbox lost it. A message without an installation
    /// can be dropped, but not retried.
    public var installationID: String?
    /// The MQTT topic of the message.
    public var topic: String
    /// The payload. If no handler may see the message, possibly only the beginning of the payload.
    public var payload: [UInt8]
    /// The payload's whole length in bytes, if ``payload`` is only its beginning.
    package var originalLength: Int?
    package var qualityOfService: Int
    package var isMarkedDuplicate: Bool
    package var isRetained: Bool
    /// The MQTT packet identifier; `nil` at QoS 0.
    package var packetID: Int?
    /// The number of the connection that received the message. It rises with each connection in one run of the program.
    package var connection: Int64
    /// When the message arrived.
    public var receivedAt: Timestamp
    /// The state of the message.
    public var state: State
    /// Number of attempts since the message arrived, or since a fresh start such as
    /// ``PushRuntime/retryDeadLetter(_:)``; 0 for a message that no handler may see. Excludes a running attempt.
    /// Includes an attempt during which its process ended, if no other attempt was running.
    public var attempts: Int
    package var updatedAt: Timestamp
    /// The message's events, in the order of time. Empty in the records of ``PushRuntime/deadLetters(after:)``.
    package var events: [MessageEvent] = []
    package var missing: [Gap] = []

    package init(_ row: StoredMessage, installationID: String?) {
        (self.messageID, self.installationID, self.connection) = (row.sequence, installationID, row.connection)
        (self.topic, self.payload, self.originalLength) = (row.topic, row.payload, row.originalLength)
        (self.qualityOfService, self.packetID) = (Int(row.qos), row.packetID.map { Int($0) })
        (self.isMarkedDuplicate, self.isRetained) = (row.duplicate, row.retain)
        (self.receivedAt, self.updatedAt) = (row.receivedAt, row.updatedAt)
        // A success at the first attempt leaves the row's number of attempts at 0.
        self.attempts = row.state == .done ? max(1, row.attempts) : row.attempts
        self.state =
            switch row.state {
            case .waiting: .waiting
            case .inHand: .running(since: row.updatedAt)
            case .retry: .waitingForRetry(due: row.nextAttempt ?? row.updatedAt)
            case .presented: .presented
            case .done: .done
            case .dead: .dead(reason: DeadLetterReason(row.reason ?? ""))
            }
    }

    package typealias RecordedEvent = (kind: MessageEvent.Kind, attempt: Int?, at: Timestamp, startedAt: Timestamp?)

    /// - Parameters:
    ///   - storedAfter: milliseconds after reception, like `acknowledgedAfter` and `startedAfter`.
    ///   - answer: 0: new data; 1: no data.
    package init(
        _ row: StoredMessage, installationID: String?, storedAfter: Int64?, acknowledgedAfter: Int64?,
        startedAfter: Int64?, answer: Int64?, events: [RecordedEvent], isWhole: Bool
    ) {
        self.init(row, installationID: installationID)
        let (storedAt, acknowledgedAt) = (self.moment(storedAfter), self.moment(acknowledgedAfter))
        self.add(.received, at: self.receivedAt)
        self.add(.stored, at: storedAt)
        self.add(.acknowledged, at: acknowledgedAt)
        for event in events {
            if let attempt = event.attempt { self.add(.started(attempt: attempt), at: event.startedAt) }
            self.add(event.kind, at: event.at)
        }
        let answer: FetchResult? =
            switch answer {
            case 0: .newData
            case 1: .noData
            default: nil
            }
        let endedLate = self.events.contains { if case .done(_, _, isLate: true) = $0.kind { true } else { false } }
        if let answer {
            let attempt = max(1, row.attempts)
            self.add(.started(attempt: attempt), at: self.moment(startedAfter))
            self.add(.done(answer, attempt: attempt, isLate: false), at: row.updatedAt)
        }
        // Events of one millisecond keep the order in which they were added.
        self.events = self.events.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)

        if storedAt == nil { self.missing.append(.storing) }
        // The acknowledgement is written with the message's first outcome.
        let isWritten = row.state != .waiting && row.state != .inHand
        if isWritten, row.packetID != nil, acknowledgedAt == nil { self.missing.append(.acknowledgement) }
        if row.state == .done, answer == nil, !endedLate { self.missing.append(.answer) }
        if !isWhole { self.missing.append(.laterEvents) }
    }

    private func moment(_ offset: Int64?) -> Timestamp? {
        offset.map { offset in
            let moment = (self.receivedAt + .milliseconds(offset)).millisecondsSinceEpoch
            return Timestamp(millisecondsSinceEpoch: moment.held(to: InboxSchema.calendar))
        }
    }

    private mutating func add(_ kind: MessageEvent.Kind, at moment: Timestamp?) {
        guard let moment else { return }
        self.events.append(MessageEvent(messageID: self.messageID, at: moment, kind: kind))
    }
}

extension Inbox {
    package func record(_ sequence: Int64) throws(InboxError) -> MessageRecord? {
        let statement = self.statements.record
        defer { statement.reset() }
        try statement.bind(1, sequence)
        guard try statement.next() else { return nil }
        let row = try StoredMessage(readingFrom: statement)
        let (events, isWhole) = try self.events(
            of: sequence, count: statement.integer(23, within: InboxSchema.eventCounts))
        return MessageRecord(
            row, installationID: statement.text(24), storedAfter: statement.optionalInteger(19),
            acknowledgedAfter: statement.optionalInteger(20), startedAfter: statement.optionalInteger(21),
            answer: statement.optionalInteger(22), events: events, isWhole: isWhole)
    }

    private func events(
        of sequence: Int64, count: Int64
    ) throws(InboxError) -> (events: [MessageRecord.RecordedEvent], isWhole: Bool) {
        var events: [MessageRecord.RecordedEvent] = []
        guard count > 0 else { return (events, true) }
        let row = self.statements.events
        defer { row.reset() }
        try row.bind(1, sequence)
        var last: Int64 = 0
        do throws(InboxError) {
            // In a damaged table a later row may have a lower number.
            while try row.next(), row.integer(0) > last {
                last = row.integer(0)
                let attempt = row.optionalInteger(3, within: StoredMessage.mostAttempts).map { Int($0) }
                let pause = row.optionalInteger(5, within: 0...(1 << 40)).map { Duration.milliseconds($0) }
                let parts = MessageEvent.Kind.Parts(row.integer(2), attempt: attempt, pause: pause, detail: row.text(6))
                guard let kind = MessageEvent.Kind(parts) else { continue }
                events.append((kind, attempt, row.time(1), row.optionalTime(4)))
            }
        } catch {
            guard error.kind == .corrupt else { throw error }
            return (events, false)
        }
        return (events, events.count == count)
    }

    package func deadLetterRecords(after sequence: Int64, limit: Int) throws(InboxError) -> [MessageRecord] {
        try self.deadLetters(after: sequence, limit: limit).map { row throws(InboxError) in
            MessageRecord(row, installationID: try self.installationID(row.installation))
        }
    }

    package func lastSequence() throws(InboxError) -> Int64 { try self.statements.readLedger().lastSequence }
}
