package import KiiPushCore

/// What is known about the messages that are being handled, for those who show and watch it: how attempts went, and what
/// each message is, which the events of an agent do not say.
///
/// An attempt whose time is over may still be under way when the next one begins, so each has a note of its own.
package final class MessageNotes: Sendable {
    package struct Note: Sendable, Hashable {
        package var attempt: Int
        package var kind: String
        package var source: HandledMessage.Source?
        /// `nil` while the attempt is under way, and where nobody tells how it went.
        package var outcome: HandlerOutcome?
        /// When the attempt is over at the latest. As the attempt's own, this time stands still while the machine sleeps.
        var deadline: SuspendingClock.Instant
        package var isWatched: Bool
        /// Whether nobody asks for it any more, so that it goes when the attempt ends.
        var isForgotten = false
    }

    /// Notes of attempts that are over are let go of beyond so many messages.
    private static let most = 10_000

    /// By the message, in the order in which its attempts began.
    private let notes = Locked<[MessageKey: [Note]]>([:])

    package init() {}

    /// An attempt begins. Of a watched one ``end(_:attempt:_:)`` tells the end.
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

    /// What is known about an attempt; `nil` of one that this process did not make.
    package func note(of message: MessageKey, attempt: Int) -> Note? {
        self.notes.withLock { $0[message]?.last { $0.attempt == attempt } }
    }

    /// Lets go of what is known about a message. An attempt that goes on behind its deadline is known until it ends.
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

    /// How long the attempt that should have ended first is past its deadline; zero when none is.
    package func overdue(at now: SuspendingClock.Instant = .now) -> Duration {
        self.notes.withLock { notes in
            notes.values.joined().filter { $0.outcome == nil && $0.isWatched }
                .reduce(.zero) { max($0, $1.deadline.duration(to: now)) }
        }
    }

    /// What a person is told who asks for the end amid attempts, which have `limit` to end; `nil` while none is under way.
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

/// A message among all that a process handles: of a fleet's databases each has numbers of its own.
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
