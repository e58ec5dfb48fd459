/// A message on its way from a connection into the store.
struct Arrival {
    /// The connection's owner, which the acknowledgement goes back through.
    let link: BrokerLink
    let message: MQTTSession.InboundMessage
    /// Which connection it came on; rises with every connection, also across restarts.
    let connection: Int64
    let receivedAt: Timestamp
    /// Whether delivery has room for it; otherwise it waits in the store.
    var isInHand = true
}

/// What a store made of an ``Arrival``.
enum StoredArrival {
    /// It is new and has this number.
    case new(Int64)
    /// It is the row with this number once more. `isFinal`: the row's outcome is known, nothing waits for it.
    case redelivered(Int64, isFinal: Bool)
}

/// Everything one turn wants written.
struct TurnWork {
    var arrivals: [Arrival] = []
    var orders: [DeliveryOrder] = []

    var isEmpty: Bool { self.arrivals.isEmpty && self.orders.isEmpty }
}

/// What delivery asks of the store, in the order in which it asked.
enum DeliveryOrder: Sendable {
    case record([DeliveryChange], committed: (@Sendable () -> Void)?)
    case load(DeliveryLoad, deliver: @Sendable (DeliveryPage) -> Void)
}

/// What has become of a turn's work once it is committed.
struct TurnOutcome {
    /// One for each arrival, in their order.
    var arrivals: [StoredArrival] = []
    /// Those of them that are new and in hand: what delivery is to get, in their order.
    var messages: [StoredMessage] = []
    /// Answers to loads and confirmations, to be given after the commit.
    var replies: [@Sendable () -> Void] = []
    /// The rows whose outcome became final in this turn.
    var finished: [Int64] = []
    /// How the reading of each page went. One that failed does not keep the rest of the turn from being written.
    var loads: [Result<Void, InboxError>] = []
    /// How long until the store wants to be looked after, in a commit of its own if there is no other; `nil`: never.
    var upkeepDue: Duration?
}

/// Where messages are kept: a file, or memory. Lives on the loop thread.
protocol MessageStore: AnyObject {
    /// Whether a commit makes a message safe, so that it may be acknowledged at once. Otherwise its acknowledgement
    /// waits for its outcome.
    var isDurable: Bool { get }
    /// Whether what ``proven(installation:through:)`` or ``calendarMoved(by:)`` noted is worth a commit of its own.
    var hasMoreToWrite: Bool { get }
    /// Bytes that wait for a handler.
    var pendingBytes: Int64 { get }
    /// Bytes that wait for a handler, those of these installations left out. May take a while.
    func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64
    /// Rises when what waits for an agent that does not run may have changed: a dead letter was made to wait, or the
    /// messages were moved to another file.
    var backlogRevision: Int { get }
    /// What has become of every message, as of the last commit.
    var ledger: MessageLedger { get }

    /// The key of an installation, made if it is new.
    func installation(id: String) throws(InboxError) -> Int64
    /// The rows whose acknowledgement may not have arrived.
    func unproven(installation: Int64) throws(InboxError) -> [UnprovenRow]
    /// Notes that the acknowledgements up to `sequence` have arrived; written with the next commit.
    func proven(installation: Int64, through sequence: Int64)
    /// Notes that the calendar was set, so that a retry keeps its delay; written with the next commit.
    func calendarMoved(by shift: Duration)
    /// Notes, for the record, that a row that the last commit stored is acknowledged. Rows come in order.
    func acknowledged(_ sequence: Int64, at now: Timestamp)
    /// The messages that were given up on and are kept, in the order of reception: the page after `sequence`.
    func deadLetters(after sequence: Int64, limit: Int) throws(InboxError) -> [DeadLetter]
    /// Makes one of them wait for delivery, now.
    ///
    /// - Returns: the key of its installation; `nil` if it is none of them, or has no installation.
    func retryDeadLetter(_ sequence: Int64, at now: Timestamp) throws(InboxError) -> Int64?
    /// Removes one of them, now; false if it is none.
    func dropDeadLetter(_ sequence: Int64) throws(InboxError) -> Bool
    /// The messages of an installation that are shown to the user, in the order of reception: the page after `sequence`.
    func presented(installation: Int64, after sequence: Int64, limit: Int) throws(InboxError) -> [StoredMessage]
    /// Writes a turn's work, whole or not at all.
    func commit(_ work: TurnWork) throws(InboxError) -> TurnOutcome
}

extension StoredMessage {
    init(_ arrival: Arrival, sequence: Int64) {
        self.init(
            sequence: sequence,
            installation: arrival.link.installation,
            topic: arrival.message.topic,
            payload: arrival.message.payload,
            originalLength: arrival.message.truncatedLength,
            receivedAt: arrival.receivedAt,
            // By bytes, as a broker compares: to Swift, texts that only look the same are equal.
            isUnexpectedTopic: !arrival.message.topic.hasBytes(of: arrival.link.topic)
        )
    }
}
