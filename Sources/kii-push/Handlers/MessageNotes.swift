import KiiPushCore

/// What is known about the messages that are being handled, for those who show and watch it: how attempts went, and what
/// each message is, which the events of an agent do not say.
final class MessageNotes: Sendable {
    /// What is known about one message.
    struct Note: Sendable, Hashable {
        var attempt: Int
        var kind: String
        var source: HandledMessage.Source?
        /// `nil` while the attempt is under way, and where nobody tells how it went.
        var outcome: HandlerOutcome?
        /// When the attempt is over at the latest. As the attempt's own, this time stands still while the machine sleeps.
        var deadline: SuspendingClock.Instant
        /// Whether it is told how the attempt went.
        var isWatched: Bool
    }

    /// Notes that nobody asked for are let go of beyond this number.
    private static let most = 10_000

    private let notes = Locked<[Int64: Note]>([:])

    /// An attempt begins.
    ///
    /// - Parameter isWatched: whether ``end(_:attempt:_:)`` will be called.
    func begin(_ message: HandledMessage, _ context: DeliveryContext, isWatched: Bool) {
        let note = Note(
            attempt: context.attempt, kind: message.kind, source: message.source,
            deadline: .now + context.timeRemaining, isWatched: isWatched)
        self.notes.withLock { notes in
            if notes.count >= Self.most { notes = notes.filter { $0.value.outcome == nil } }
            notes[context.messageID] = note
        }
    }

    /// An attempt has ended like this.
    func end(_ messageID: Int64, attempt: Int, _ outcome: HandlerOutcome) {
        self.notes.withLock { notes in
            if notes[messageID]?.attempt == attempt { notes[messageID]?.outcome = outcome }
        }
    }

    /// What is known about an attempt; `nil` of one that this process did not make.
    func note(of messageID: Int64, attempt: Int) -> Note? {
        self.notes.withLock { notes in notes[messageID].flatMap { $0.attempt == attempt ? $0 : nil } }
    }

    /// Lets go of what is known about a message. An attempt that goes on behind its deadline is still known.
    func forget(_ messageID: Int64) {
        self.notes.withLock { notes in
            if notes[messageID]?.outcome != nil || notes[messageID]?.isWatched == false { notes[messageID] = nil }
        }
    }

    /// How long the attempt that should have ended first is past its deadline; zero when none is.
    func overdue(at now: SuspendingClock.Instant = .now) -> Duration {
        self.notes.withLock { notes in
            notes.values.filter { $0.outcome == nil && $0.isWatched }
                .reduce(.zero) { max($0, $1.deadline.duration(to: now)) }
        }
    }

    /// How many attempts are under way.
    var inHand: Int { self.notes.withLock { notes in notes.values.count { $0.outcome == nil } } }
}
