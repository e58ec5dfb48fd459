/// Something that happened to one message, for those who watch an agent.
public struct MessageEvent: Sendable, Hashable {
    /// What happened. New cases may be added.
    public enum Kind: Sendable, Hashable {
        /// It was stored and decoded.
        case received
        /// It came again while it was in hand; nothing was started.
        case joined
        /// Its handler is called, for the first time or again.
        case started(attempt: Int)
        /// It is done, with this answer.
        case done(FetchResult, attempt: Int)
        /// It reached nobody and is done, without data: it came in the background, is not for it (``content-available``
        /// is not set) and has no alert to show.
        case unreached(attempt: Int)
        /// The handler left it to a later run of the agent: it waits in the inbox, and no attempt is counted.
        /// `kii-push listen` does that with messages that its filter hides.
        case setAside
        /// It is shown to the user, and rests until the user reacts.
        case presented
        /// The user opened what showed it: it is handed over (again).
        case opened(UserAction)
        /// What showed it is gone, and the user did not open it: it is done, without data.
        case dismissed
        /// The attempt failed; the next one starts after the pause.
        case retry(attempt: Int, failure: DeliveryFailure, after: Duration)
        /// It was given up on. ``MessageEvent/isKept`` says whether it is kept as a dead letter.
        case dead(DeadLetterReason)
        /// The attempt failed, in a program that an ``Activator`` started: the agent that has the message tries it again, or
        /// gives it up.
        case handedBack(DeliveryFailure)
        /// An answer came after the deadline. When it counted, the message is done.
        case late(attempt: Int, counted: Bool)
        /// The handler has not returned long after its deadline; its thread is lost until it does.
        case stuck(attempt: Int)
    }

    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// What happened.
    public var kind: Kind
    /// Whether the inbox is a file, which keeps messages that are given up on as dead letters. With the inbox in memory
    /// such a message is gone.
    public var isKept: Bool

    /// Makes an event, for a test of what watches them.
    public init(messageID: Int64, kind: Kind, isKept: Bool = true) {
        self.messageID = messageID
        self.kind = kind
        self.isKept = isKept
    }

    /// Where messages are kept.
    enum Keeping: Sendable {
        case file
        case memory
        /// Another process has them, which started this one.
        case launcher
    }

    init(_ event: DeliveryEvent, _ keeping: Keeping) {
        self.messageID = event.sequence
        self.isKept = keeping != .memory
        self.kind =
            switch event.kind {
            case .received: .received
            case .joined: .joined
            case .started(let attempt): .started(attempt: attempt)
            case .answered(let result, let attempt): .done(result, attempt: attempt)
            case .unreached(let attempt): .unreached(attempt: attempt)
            case .setAside: .setAside
            case .presented: .presented
            case .opened(let action): .opened(action)
            case .dismissed: .dismissed
            case .retry(let attempt, let failure, let delay): .retry(attempt: attempt, failure: failure, after: delay)
            case .dead(.attemptsFailed(let failure)) where keeping == .launcher: .handedBack(failure)
            case .dead(let reason): .dead(reason)
            case .late(_, let attempt, let counted): .late(attempt: attempt, counted: counted)
            case .stuck(let attempt): .stuck(attempt: attempt)
            }
    }
}
