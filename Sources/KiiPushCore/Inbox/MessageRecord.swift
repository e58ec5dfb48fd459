/// The record of one message in the inbox's file.
///
/// The inbox writes an event together with the message's next outcome, so that the record costs nothing. Until then the
/// record lacks the event. If the process ends before that, the record never gets it.
public struct MessageRecord: Sendable, Hashable {
    /// The state of a message.
    public enum State: Sendable, Hashable {
        /// The message waits until there is room for it in memory.
        case waiting
        /// Delivery took the message at this time, or before.
        case running(since: Timestamp)
        /// The last attempt failed, and the next one is due at this time.
        case waitingForRetry(due: Timestamp)
        /// A notification shows the message, and the user has not reacted.
        case presented
        /// The message is done.
        case done
        /// The message is a dead letter, for this reason.
        case dead(reason: DeadLetterReason)
    }

    /// The states by name, for ``InboxReader/messages(_:after:limit:)``.
    package enum Standing: String, Sendable, Hashable, CaseIterable {
        /// As the cases of ``State``; `retry` is ``State/waitingForRetry(due:)``.
        case waiting, running, retry, presented, done, dead
    }

    /// An event that happened, or must have, and is not in the record.
    package enum Gap: Sendable, Hashable {
        /// The time of storing: the inbox was damaged.
        case storing
        /// The acknowledgement and its time. The process ended before that was written, or the connection ended before
        /// the acknowledgement was sent.
        case acknowledgement
        /// The answer and its time: the inbox was damaged.
        case answer
        /// Some of the other events: the record is full, or cannot be read to its end.
        case laterEvents
    }

    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// The installation that received it; `nil` if a damaged inbox could not tell it any more. A person can drop such a
    /// message, but not retry it.
    public var installationID: String?
    /// The MQTT topic that it came on.
    public var topic: String
    /// The payload as it came; for an oversized message, its beginning.
    public var payload: [UInt8]
    /// The payload's length in bytes, if ``payload`` is only its beginning.
    package var originalLength: Int?
    /// The quality of service it came with, 0 to 2.
    package var qualityOfService: Int
    /// Whether the broker marked it as a possible redelivery (DUP) when it first came.
    package var isMarkedDuplicate: Bool
    /// Whether the broker had kept it as the topic's retained message.
    package var isRetained: Bool
    /// MQTT's packet identifier; `nil` at QoS 0.
    package var packetID: Int?
    /// The number of the connection that it came on. It rises with every connection of the installation.
    package var connection: Int64
    /// When it came in; the first event.
    public var receivedAt: Timestamp
    /// The state of the message.
    public var state: State
    /// The number of attempts since it last began anew; 0 for a message that no handler may see. It includes attempts
    /// that ran alone when a process ended, and not a running attempt.
    public var attempts: Int
    /// When its state last changed; for a dead letter, when delivery gave up on it.
    package var updatedAt: Timestamp
    /// The message's events, in the order of time. Empty in the records of ``PushRuntime/deadLetters(after:)``.
    package var events: [MessageEvent] = []
    /// Events that are known to be missing.
    package var missing: [Gap] = []

    package init(_ row: StoredMessage, installationID: String?) {
        (self.messageID, self.installationID, self.connection) = (row.sequence, installationID, row.connection)
        (self.topic, self.payload, self.originalLength) = (row.topic, row.payload, row.originalLength)
        (self.qualityOfService, self.packetID) = (Int(row.qos), row.packetID.map { Int($0) })
        (self.isMarkedDuplicate, self.isRetained) = (row.duplicate, row.retain)
        (self.receivedAt, self.updatedAt) = (row.receivedAt, row.updatedAt)
        // A row that succeeds at once keeps the number of its failures.
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

    /// The data that a store keeps of a message beside its row.
    package struct Recorded {
        /// Milliseconds since its reception.
        package var storedAfter: Int64?
        package var acknowledgedAfter: Int64?
        package var startedAfter: Int64?
        /// The answer's number.
        package var answer: Int64?
        package var events: [(parts: MessageEvent.Kind.Parts, at: Timestamp, startedAt: Timestamp?)] = []
        /// Whether all events of the message are here.
        package var isWhole = true

        package init() {}
    }

    package init(_ row: StoredMessage, installationID: String?, _ recorded: Recorded) {
        self.init(row, installationID: installationID)
        let (storedAt, acknowledgedAt) = (
            self.moment(recorded.storedAfter), self.moment(recorded.acknowledgedAfter)
        )
        self.add(.received, at: self.receivedAt)
        self.add(.stored, at: storedAt)
        self.add(.acknowledged, at: acknowledgedAt)
        for event in recorded.events {
            guard let kind = MessageEvent.Kind(event.parts) else { continue }
            if let attempt = event.parts.attempt { self.add(.started(attempt: attempt), at: event.startedAt) }
            self.add(kind, at: event.at)
        }
        let answer: FetchResult? =
            switch recorded.answer {
            case 0: .newData
            case 1: .noData
            default: nil
            }
        let endedLate = self.events.contains { if case .done(_, _, isLate: true) = $0.kind { true } else { false } }
        if let answer {
            let attempt = max(1, row.attempts)
            self.add(.started(attempt: attempt), at: self.moment(recorded.startedAfter))
            self.add(.done(answer, attempt: attempt, isLate: false), at: row.updatedAt)
        }
        // Events of one millisecond stay in the order in which they had to happen.
        self.events = self.events.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)

        if storedAt == nil { self.missing.append(.storing) }
        // The acknowledgement is written with the message's first outcome.
        let isWritten = row.state != .waiting && row.state != .inHand
        if isWritten, row.packetID != nil, acknowledgedAt == nil { self.missing.append(.acknowledgement) }
        if row.state == .done, answer == nil, !endedLate { self.missing.append(.answer) }
        if !recorded.isWhole { self.missing.append(.laterEvents) }
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
        var recorded = MessageRecord.Recorded()
        (recorded.storedAfter, recorded.acknowledgedAfter) = (
            statement.optionalInteger(19), statement.optionalInteger(20)
        )
        (recorded.startedAfter, recorded.answer) = (statement.optionalInteger(21), statement.optionalInteger(22))
        let count = statement.integer(23, within: InboxSchema.eventCounts)
        recorded.isWhole = try self.readEvents(of: sequence, into: &recorded, count: count)
        return MessageRecord(row, installationID: statement.text(24), recorded)
    }

    /// Reads the events of a message, as far as they can be read. Returns whether there are `count` of them.
    private func readEvents(
        of sequence: Int64, into recorded: inout MessageRecord.Recorded, count: Int64
    ) throws(InboxError) -> Bool {
        guard count > 0 else { return true }
        let row = self.statements.events
        defer { row.reset() }
        try row.bind(1, sequence)
        var (read, last): (Int64, Int64) = (0, 0)
        do throws(InboxError) {
            // In a damaged table rows lead back to others.
            while try row.next(), row.integer(0) > last {
                last = row.integer(0)
                let attempt = row.optionalInteger(3, within: StoredMessage.mostAttempts).map { Int($0) }
                let pause = row.optionalInteger(5, within: 0...(1 << 40)).map { Duration.milliseconds($0) }
                let parts = MessageEvent.Kind.Parts(row.integer(2), attempt: attempt, pause: pause, detail: row.text(6))
                guard MessageEvent.Kind(parts) != nil else { continue }
                recorded.events.append((parts, row.time(1), row.optionalTime(4)))
                read += 1
            }
        } catch {
            // The events read so far are right all the same.
            guard error.kind == .corrupt else { throw error }
            return false
        }
        return read == count
    }

    /// The records of the dead letters after this number, in the order of reception, without their events.
    package func deadLetterRecords(after sequence: Int64, limit: Int) throws(InboxError) -> [MessageRecord] {
        try self.deadLetters(after: sequence, limit: limit).map { row throws(InboxError) in
            MessageRecord(row, installationID: try self.installationID(row.installation))
        }
    }

    /// The last number that the inbox gave out; 0 if it gave out none.
    package func lastSequence() throws(InboxError) -> Int64 { try self.statements.readLedger().lastSequence }
}
