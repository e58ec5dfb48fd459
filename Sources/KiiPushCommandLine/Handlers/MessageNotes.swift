package import KiiPushCore

/// For each attempt, facts that its events lack: the message's kind and source, and the result. Output and the watchdog
/// read the facts.
///
/// Each attempt has its own ``Note``, because a late attempt may still be running when the next attempt begins.
package final class MessageNotes: Sendable {
    package struct Note: Sendable, Hashable {
        package var attempt: Int
        package var kind: String
        package var source: HandledMessage.Source?
        package var outcome: HandlerOutcome?
        /// The deadline of the attempt, on a clock that stops while the machine sleeps.
        var deadline: SuspendingClock.Instant
        package var isWatched: Bool
        var isForgotten = false
    }

    /// From this number of messages on, ``begin(_:_:isWatched:)`` drops notes of messages without a running attempt.
    private static let most = 10_000

    private let notes = Locked<[MessageKey: [Note]]>([:])

    package init() {}

    package func begin(_ message: HandledMessage, _ context: DeliveryContext, isWatched: Bool) {
        let note = Note(
            attempt: context.attempt, kind: message.kind, source: message.source,
            deadline: .now + context.timeRemaining, isWatched: isWatched)
        self.notes.withLock { notes in
            if notes.count >= Self.most { notes = notes.filter { $0.value.contains { $0.outcome == nil } } }
            notes[message.key(context), default: []].append(note)
        }
    }

    package func end(_ message: MessageKey, attempt: Int, _ outcome: HandlerOutcome) {
        self.notes.withLock { notes in
            var ofMessage = notes[message] ?? []
            guard let index = ofMessage.firstIndex(where: { $0.attempt == attempt && $0.outcome == nil })
            else { return }
            if ofMessage[index].isForgotten { ofMessage.remove(at: index) } else { ofMessage[index].outcome = outcome }
            notes[message] = ofMessage.isEmpty ? nil : ofMessage
        }
    }

    package func note(of message: MessageKey, attempt: Int) -> Note? {
        self.notes.withLock { $0[message]?.last { $0.attempt == attempt } }
    }

    /// Removes the notes of a message. The note of a watched attempt that is still running stays until the attempt
    /// ends.
    ///
    /// - Parameter attempt: the only attempt to remove; `nil` for all attempts.
    package func forget(_ message: MessageKey, attempt: Int? = nil) {
        self.notes.withLock { notes in
            let left = (notes[message] ?? []).compactMap { note -> Note? in
                guard attempt == nil || note.attempt == attempt else { return note }
                guard note.isWatched, note.outcome == nil else { return nil }
                var note = note
                note.isForgotten = true
                return note
            }
            notes[message] = left.isEmpty ? nil : left
        }
    }

    /// The time since the earliest missed deadline of a running, watched attempt; zero if there is none.
    package func overdue(at now: SuspendingClock.Instant = .now) -> Duration {
        self.notes.withLock { notes in
            notes.values.joined().filter { $0.outcome == nil && $0.isWatched }
                .reduce(.zero) { max($0, $1.deadline.duration(to: now)) }
        }
    }

    /// The text for a user who stops the command during attempts; `nil` if no attempt is running.
    ///
    /// - Parameter limit: the time that the attempts still have.
    package func waitingText(_ limit: Duration) -> String? {
        let ids = self.notes.withLock { notes in
            notes.filter { $0.value.contains { $0.outcome == nil } }.keys.map(\.id).sorted()
        }
        guard let first = ids.first else { return nil }
        let more = ids.count > 1 ? " and of \(ids.count - 1) more" : ""
        return "> Waiting for the answer to #\(first)\(more), \(limit.text) at most; ^C again ends it at once, and "
            + "nothing is lost."
    }

    package var inHand: Int { self.notes.withLock { $0.values.joined().count { $0.outcome == nil } } }
}

/// Identifies a message in this process. In a fleet the number alone is not unique: each database has its own numbers.
package struct MessageKey: Hashable {
    package var agent: String?
    package var id: Int64

    package init(agent: String? = nil, id: Int64) {
        self.agent = agent
        self.id = id
    }
}

extension HandledMessage {
    package func key(_ context: DeliveryContext) -> MessageKey { MessageKey(agent: self.agent, id: context.messageID) }
}
