package import KiiPushCore

/// Facts about messages and their attempts that events do not have: results, kinds and sources. Output and the watchdog
/// read them.
///
/// Each attempt has its own note, because a late attempt may still be running when the next attempt begins.
package final class MessageNotes: Sendable {
    package struct Note: Sendable, Hashable {
        package var attempt: Int
        package var kind: String
        package var source: HandledMessage.Source?
        package var outcome: HandlerOutcome?
        /// The latest end of the attempt, by a clock that stops while the machine sleeps.
        var deadline: SuspendingClock.Instant
        package var isWatched: Bool
        var isForgotten = false
    }

    /// Above this number of messages, notes of finished attempts are dropped.
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

    /// Removes the notes of a message. The note of a late attempt stays until the attempt ends.
    ///
    /// - Parameter attempt: only this attempt. Default: all attempts.
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

    /// The time since the earliest missed deadline of an attempt; zero if there is none.
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

/// Identifies a message in this process. Each database of a fleet numbers its messages separately.
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
