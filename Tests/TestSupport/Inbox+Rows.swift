package import KiiPushCore

extension Inbox {
    /// Rows with a state, of all installations, in the order of reception.
    package func rows(_ state: RowState, after sequence: Int64 = 0, limit: Int) throws(InboxError) -> [StoredMessage] {
        var rows: [StoredMessage] = []
        for sequence in try self.sequences([state], after: sequence, limit: limit) {
            if let row = try self.row(sequence) { rows.append(row) }
        }
        return rows
    }
}

extension MessageChange {
    /// The change that brings a message into a state.
    ///
    /// - Parameters:
    ///   - pause: the time between the change and a retry.
    ///   - failure: the failure of the last attempt, for a retry or a dead letter.
    package init(
        sequence: Int64, state: RowState, attempts: Int = 0, crashes: Int = 0, pause: Duration = .seconds(1),
        failure: DeliveryFailure = .failed
    ) {
        let verdict: Verdict =
            switch state {
            case .waiting: .setAside
            case .inHand: .inHand
            case .retry: .retry(after: pause, failure: failure, firstStart: nil)
            case .presented: .presented
            case .done: .done(.newData)
            case .dead: .dead(.attemptsFailed(failure))
            }
        self.init(sequence: sequence, installation: 1, verdict: verdict)
        (self.attempts, self.crashes) = (attempts, crashes)
    }
}

extension MonotonicInstant {
    /// The instant that ``InboxTransaction/update(_:acknowledgedAt:at:)`` needs for a time.
    package static func of(_ time: Timestamp) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: time.millisecondsSinceEpoch * 1_000_000)
    }
}

extension InboxTransaction {
    /// Applies a change at a time of the calendar. The monotonic clock gets the same value.
    @discardableResult
    package func update(
        _ change: MessageChange, acknowledgedAt: Timestamp? = nil, at now: Timestamp
    ) throws(InboxError) -> (state: RowState, source: Int64?)? {
        try self.update(change, acknowledgedAt: acknowledgedAt, at: TurnClock(now: now, instant: .of(now)))
    }
}
