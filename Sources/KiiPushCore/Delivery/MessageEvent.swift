/// Something that happened to one message: as an agent tells of it when it happens, and as the inbox has recorded it.
public struct MessageEvent: Sendable, Hashable {
    /// What happened. New cases may be added.
    public enum Kind: Sendable, Hashable {
        /// It came in. Told once it is stored and decoded.
        case received
        /// The transaction that stored it began. Recorded, and not told.
        case stored
        /// Its acknowledgement was sent to the broker. Recorded, and not told.
        case acknowledged
        /// The broker delivered it again: that was acknowledged, and nothing was started. Told while it is in hand.
        case duplicate
        /// It was in hand when a process ended, so this attempt was to run alone. Recorded, and not told.
        case isolated(attempt: Int)
        /// Its handler was called: attempt 1, 2, …
        case started(attempt: Int)
        /// It is done, with this answer. A late answer came after the attempt's deadline, and counted.
        case done(FetchResult, attempt: Int, isLate: Bool)
        /// It reached nobody and is done, without data: it came in the background, is not for it (`content-available`
        /// is not set) and has no alert to show. Told; recorded as done.
        case unreached(attempt: Int)
        /// The handler left it to a later run of the agent: it waits in the inbox, and no attempt is counted. Told, and
        /// not recorded. `kii-push listen` does that with messages that its filter hides.
        case setAside
        /// It is shown to the user, and rests until the user reacts.
        case presented
        /// The user opened what showed it: it is handed over (again), and attempts are counted from 1 again.
        case opened(UserAction)
        /// What showed it is gone, and the user did not open it: it is done, without data. Told; recorded as done.
        case dismissed
        /// The attempt failed; the next one follows after the pause.
        case failed(attempt: Int, DeliveryFailure, retryAfter: Duration)
        /// Delivery gave up, after an attempt or without one. The message is a dead letter, unless the inbox is in
        /// memory.
        case dead(DeadLetterReason, attempt: Int?)
        /// The attempt failed, and another process keeps the message, which it has handed over: that one tries it again, or
        /// gives it up. Told, and not recorded.
        case handedBack(DeliveryFailure)
        /// An answer came after the deadline and did not count. Told, and not recorded.
        case late(attempt: Int)
        /// The handler has not returned long after its deadline, and keeps its thread. Told, and not recorded.
        case stuck(attempt: Int)
        /// A person had it tried again; attempts are counted from 1 again. Recorded, and not told.
        case retried
    }

    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// When, on this machine's calendar. What is told has the time of telling; what is recorded, that of the event.
    public var at: Timestamp
    /// What happened.
    public var kind: Kind
    /// Whether the inbox is a file, which keeps messages that are given up on as dead letters; in memory they are gone.
    package var isKept: Bool
    /// What the handler was called with.
    package var call: Call?
    /// The message that the handler was called with: what a watcher is told with ``Kind/started(attempt:)``. `nil` in the
    /// process that receives, whose handler has it; for a thing-if command; and if it is too long for the socket.
    public var message: ReceivedMessage? { if case .handler(let message, _) = self.call { message } else { nil } }

    /// What a handler is called with. By reference, since most events have none.
    package indirect enum Call: Sendable, Hashable {
        case handler(ReceivedMessage, DeliveryContext)
        /// The message is too long for the control socket, or for a watcher that has much unread.
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
    /// What is written of it, in the inbox's file and on the control socket.
    package struct Parts: Sendable, Hashable {
        /// Which kind it is. These numbers stand in files.
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

    /// The kind in a word that programs may rely on.
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

    /// `nil` for a kind of a later version, and where a part is missing.
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
