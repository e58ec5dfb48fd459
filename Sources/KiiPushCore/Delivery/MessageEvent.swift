/// An event of one message. The agent reports most events to observers when they happen, and the inbox records most of
/// them.
public struct MessageEvent: Sendable, Hashable {
    /// The kind of an event. Later versions may add cases.
    public enum Kind: Sendable, Hashable {
        /// The message came in. Reported after it is stored and decoded.
        case received
        /// The transaction that stored the message began. Recorded in the inbox, never reported.
        case stored
        /// The agent sent the acknowledgement to the broker. Recorded in the inbox, never reported.
        case acknowledged
        /// The broker delivered the message again, and the agent started no attempt for the copy. Reported only while
        /// the message is in memory.
        case duplicate
        /// An earlier process of the agent ended while it had the message in memory, so no other attempt runs beside this
        /// one. Recorded in the inbox, never reported.
        case isolated(attempt: Int)
        /// Attempt 1, 2, … began: usually, the agent calls the handler.
        case started(attempt: Int)
        /// The message is done, with this answer. `isLate`: the answer came after the deadline, and counted.
        case done(FetchResult, attempt: Int, isLate: Bool)
        /// The message reached neither a handler nor the user, and is done with ``FetchResult/noData``. It came in the
        /// background, without `content-available` and without an alert. The inbox records it as done.
        case unreached(attempt: Int)
        /// The handler left the message to a later run of the agent. The attempt does not count. Reported, never
        /// recorded.
        case setAside
        /// A notification shows the message, which waits for the user's reaction.
        case presented
        /// The user opened the notification. The agent delivers the message (again), and attempts restart at 1.
        case opened(UserAction)
        /// The notification is gone, unopened, and no handler was called: the message is done with
        /// ``FetchResult/noData``. The inbox records it as done.
        case dismissed
        /// The attempt failed; the next one follows after the pause.
        case failed(attempt: Int, DeliveryFailure, retryAfter: Duration)
        /// Delivery gave up, after an attempt or without one. The message is a dead letter, unless the inbox is in
        /// memory.
        case dead(DeadLetterReason, attempt: Int?)
        /// The attempt failed, and the process that keeps the message decides about a retry. Reported, never recorded.
        case handedBack(DeliveryFailure)
        /// An answer came after the deadline and did not count. Reported, never recorded.
        case late(attempt: Int)
        /// A handler still blocks its thread long after the deadline, or a ``NotificationPresenter`` blocks its thread
        /// at the deadline. Reported, never recorded.
        case stuck(attempt: Int)
        /// A person retried the message; attempts restart at 1. Recorded in the inbox, never reported.
        case retried
    }

    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// The calendar time. Observers get the time of the report; the inbox records the time of the event.
    public var at: Timestamp
    /// The kind of the event.
    public var kind: Kind
    /// Whether the inbox keeps dead letters: true unless the inbox is in memory.
    package var isKept: Bool
    package var call: Call?
    /// The message that the handler got, in an event ``Kind/started(attempt:)`` that another process watches. Else
    /// `nil`, also for a thing-if command and for a message that is too long for the control socket.
    public var message: ReceivedMessage? { if case .handler(let message, _) = self.call { message } else { nil } }

    package indirect enum Call: Sendable, Hashable {
        case handler(ReceivedMessage, DeliveryContext)
        case omitted
    }

    package init(messageID: Int64, at: Timestamp, kind: Kind, isKept: Bool = true) {
        self.messageID = messageID
        self.at = at
        self.kind = kind
        self.isKept = isKept
    }
}

extension MessageEvent.Kind {
    /// The form of a kind in the inbox's file and on the control socket.
    package struct Parts: Sendable, Hashable {
        /// Inbox files contain these numbers.
        package var code: Int64
        package var attempt: Int?
        package var pause: Duration?
        package var detail: String?

        package init(_ code: Int64, attempt: Int? = nil, pause: Duration? = nil, detail: String? = nil) {
            self.code = code
            self.attempt = attempt
            self.pause = pause
            self.detail = detail
        }
    }

    package var word: String { Self.words[Int(self.parts.code) - 1] }

    private static let words = [
        "received", "stored", "acknowledged", "duplicate", "isolated", "started", "done", "done", "unreached",
        "setAside", "presented", "opened", "dismissed", "failed", "dead", "handedBack", "late", "stuck", "retried",
    ]

    package var parts: Parts {
        switch self {
        case .received: Parts(1)
        case .stored: Parts(2)
        case .acknowledged: Parts(3)
        case .duplicate: Parts(4)
        case .isolated(let attempt): Parts(5, attempt: attempt)
        case .started(let attempt): Parts(6, attempt: attempt)
        case .done(let result, let attempt, isLate: false): Parts(7, attempt: attempt, detail: "\(result)")
        case .done(let result, let attempt, isLate: true): Parts(8, attempt: attempt, detail: "\(result)")
        case .unreached(let attempt): Parts(9, attempt: attempt)
        case .setAside: Parts(10)
        case .presented: Parts(11)
        case .opened(let action): Parts(12, detail: action.stored)
        case .dismissed: Parts(13)
        case .failed(let attempt, let failure, let pause):
            Parts(14, attempt: attempt, pause: pause, detail: failure.description)
        case .dead(let reason, let attempt): Parts(15, attempt: attempt, detail: reason.description)
        case .handedBack(let failure): Parts(16, detail: failure.description)
        case .late(let attempt): Parts(17, attempt: attempt)
        case .stuck(let attempt): Parts(18, attempt: attempt)
        case .retried: Parts(19)
        }
    }

    /// `nil` for a kind of a later version, or if a part is missing or unknown.
    package init?(_ parts: Parts) {
        switch (parts.code, parts.attempt, parts.detail) {
        case (1, _, _): self = .received
        case (2, _, _): self = .stored
        case (3, _, _): self = .acknowledged
        case (4, _, _): self = .duplicate
        case (5, let attempt?, _): self = .isolated(attempt: attempt)
        case (6, let attempt?, _): self = .started(attempt: attempt)
        case (7...8, let attempt?, let word?):
            guard let result = FetchResult.allCases.first(where: { "\($0)" == word }) else { return nil }
            self = .done(result, attempt: attempt, isLate: parts.code == 8)
        case (9, let attempt?, _): self = .unreached(attempt: attempt)
        case (10, _, _): self = .setAside
        case (11, _, _): self = .presented
        case (12, _, let choice?): self = .opened(UserAction(stored: choice))
        case (13, _, _): self = .dismissed
        case (14, let attempt?, let text?):
            guard let pause = parts.pause else { return nil }
            self = .failed(attempt: attempt, DeliveryFailure(text), retryAfter: pause)
        case (15, let attempt, let text?): self = .dead(DeadLetterReason(text), attempt: attempt)
        case (16, _, let text?): self = .handedBack(DeliveryFailure(text))
        case (17, let attempt?, _): self = .late(attempt: attempt)
        case (18, let attempt?, _): self = .stuck(attempt: attempt)
        case (19, _, _): self = .retried
        default: return nil
        }
    }
}
