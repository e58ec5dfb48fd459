/// What the machine needs to know of a message. What is in it is not the machine's business.
package protocol Deliverable: Sendable {
    /// What messages have in common that start in order.
    associatedtype Source: Hashable, Sendable

    var sequence: Int64 { get }
    var installation: Int64 { get }
    var source: Source { get }
    /// Attempts before this process knew it.
    var attempts: Int { get }
    var crashes: Int { get }
    var wasInHand: Bool { get }
    /// How long until its next attempt is due, if the store had it waiting for that.
    var pause: Duration? { get }
    var isUserOpened: Bool { get }
    /// When an attempt is over at the latest, whenever it starts, where somebody else has set that.
    var answerBy: MonotonicInstant? { get }
    /// How many bytes it has, as ``StoredMessage/bytes`` says.
    var bytes: Int { get }
}

extension Deliverable {
    package var answerBy: MonotonicInstant? { nil }
    package var bytes: Int { 0 }

    var key: DeliveryKey { DeliveryKey(sequence: self.sequence, isUserOpened: self.isUserOpened) }
}

/// Tells deliveries apart. A message that the user opens is delivered again, maybe while its first delivery goes on.
package struct DeliveryKey: Sendable, Hashable {
    package var sequence: Int64
    package var isUserOpened: Bool

    package init(sequence: Int64, isUserOpened: Bool = false) {
        self.sequence = sequence
        self.isUserOpened = isUserOpened
    }
}

/// A message in memory, and how it has fared.
struct DeliveryEntry<Message: Deliverable>: Sendable {
    let message: Message
    /// Attempts that are over.
    var attempts: Int
    var crashes: Int
    /// It may be what ended an earlier process, and has not run alone since.
    var isSuspect = false
    /// When its first attempt in this process started.
    var firstStart: MonotonicInstant?
    /// What its source counts it as while it is not in its queue.
    var bond = Bond.none

    enum Bond: Sendable {
        case none
        /// With strict order: it waits for its retry, and holds back the others.
        case heldBack
        /// It was admitted, and is being written as in hand.
        case expected
    }

    /// Whether its row can wait in the store as it is, to be read back.
    var mayWaitInStore: Bool { !self.isSuspect && !self.message.isUserOpened && self.firstStart == nil }

    init(_ message: Message) {
        self.message = message
        self.attempts = message.attempts
        self.crashes = message.crashes
    }
}

/// How one call of a handler came out.
package enum HandlerVerdict: Sendable, Hashable {
    case result(FetchResult)
    case rejected(String)
    case threw(String)
    /// The completion was let go of without an answer.
    case unanswered
    /// Nobody was called: the message is shown to the user instead.
    case presented
    /// Nobody was called, since there is nobody whom the message is for.
    case unreached
    /// Nobody was called, since the machine is short of what starting somebody takes, for this reason.
    case unstarted(String)
    /// The message is left to a later run, and this attempt does not count.
    case setAside

    /// Whether the handler has finished with the message for this run.
    var isSuccess: Bool {
        switch self {
        case .result(.newData), .result(.noData), .unreached, .setAside: true
        case .result(.failed), .rejected, .threw, .unanswered, .presented, .unstarted: false
        }
    }
}
