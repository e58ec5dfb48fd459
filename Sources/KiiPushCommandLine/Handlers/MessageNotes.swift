package import KiiPushCore

/// Facts about messages with a handler, for output and the watchdog: results of attempts, and the kind and source of
/// each message, which events do not have.
///
/// An attempt whose time is over may still be under way when the next one begins, so each has a note of its own.
package final class MessageNotes: Sendable {
    package struct Note: Sendable, Hashable {
        package var attempt: Int
        package var kind: String
        package var source: HandledMessage.Source?
        /// `nil` during the attempt, and where nobody reports its result.
        package var outcome: HandlerOutcome?
        /// The latest end of the attempt. Like the attempt's own limit, it stands still while the machine sleeps.
        var deadline: SuspendingClock.Instant
        package var isWatched: Bool
        /// Whether nobody reads the note any more; the end of the attempt then removes it.
        var isForgotten = false
    }

    /// Beyond this number of messages, notes of finished attempts are dropped.
    private static let most = 10_000

    /// By message, in the order of its attempts.
    private let notes = Locked<[MessageKey: [Note]]>([:])

    package init() {}

    /// Notes the begin of an attempt. A watched attempt ends with ``end(_:attempt:_:)``.
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

    /// The note of an attempt; `nil` for an attempt of another process.
    package func note(of message: MessageKey, attempt: Int) -> Note? {
        self.notes.withLock { $0[message]?.last { $0.attempt == attempt } }
    }

    /// Forgets a message. The note of an attempt past its deadline stays until the attempt ends.
    ///
    /// - Parameter attempt: this attempt alone. Default: all of them.
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

    /// The time since the earliest missed deadline of an attempt; zero without one.
    package func overdue(at now: SuspendingClock.Instant = .now) -> Duration {
        self.notes.withLock { notes in
            notes.values.joined().filter { $0.outcome == nil && $0.isWatched }
                .reduce(.zero) { max($0, $1.deadline.duration(to: now)) }
        }
    }

    /// The text for a person who stops the command during attempts, which have `limit` to end; `nil` without attempts.
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

/// The identity of a message in a process: each database of a fleet numbers its messages separately.
package struct MessageKey: Hashable {
    /// Its agent, in a fleet.
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
