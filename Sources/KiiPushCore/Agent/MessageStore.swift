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

extension MQTTSession.InboundMessage {
    /// The bytes of its payload and topic.
    var bytes: Int { self.payload.count + self.topic.utf8.count }
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

extension TurnWork {
    /// A verdict changes a page, which is written whole.
    private static let changeBytes: Int64 = 4096

    /// Takes the first part of it, which writes about so many bytes, or all of it.
    ///
    /// Orders come first, and alone: they make room, and messages take it.
    mutating func takePart(of bytes: Int64?) -> TurnWork {
        guard let bytes else {
            defer { self = TurnWork() }
            return self
        }
        var part = TurnWork()
        var left = bytes
        while left > 0, !self.orders.isEmpty { part.orders.append(self.takeOrder(&left)) }
        guard part.orders.isEmpty else { return part }
        let count = self.arrivals.firstIndex { arrival in
            defer { left -= 2 * InboxCounts.bytes(of: arrival.message) }
            return left <= 0
        }
        part.arrivals = Array(self.arrivals.prefix(count ?? self.arrivals.count))
        self.arrivals.removeFirst(part.arrivals.count)
        return part
    }

    /// Puts a part back that was taken.
    mutating func putBack(_ part: TurnWork) {
        self.orders.insert(contentsOf: part.orders, at: 0)
        self.arrivals.insert(contentsOf: part.arrivals, at: 0)
    }

    private mutating func takeOrder(_ left: inout Int64) -> DeliveryOrder {
        let room = Int(max(left / TurnWork.changeBytes, 1))
        guard case .record(let changes, let committed) = self.orders[0] else {
            // How much is read back follows from the room as well.
            left = 0
            return self.orders.removeFirst()
        }
        left -= Int64(changes.count) * TurnWork.changeBytes
        guard changes.count > room else { return self.orders.removeFirst() }
        self.orders[0] = .record(Array(changes[room...]), committed: committed)
        return .record(Array(changes[..<room]), committed: nil)
    }
}

extension InboxCounts {
    /// What a row of this message takes, about.
    fileprivate static func bytes(of message: MQTTSession.InboundMessage) -> Int64 {
        InboxCounts.bytes(topic: message.topic.utf8.count, payload: message.payload.count)
    }
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
    /// How many dead letters that nobody can handle made room for newer ones.
    var removedDeadLetters = 0
    /// How the reading of each page went. One that failed does not keep the rest of the turn from being written.
    var loads: [Result<Void, InboxError>] = []
    /// How long until the store wants to be looked after, in a commit of its own if there is no other; `nil`: never.
    var upkeepDue: Duration?
}

/// Where a message stands, and whose it is.
struct MessageStanding {
    var state: RowState
    /// The key of its installation.
    var installation: Int64
    /// Whether that installation is known.
    var hasInstallation: Bool
}

/// An installation whose messages another one handles.
struct Adoption {
    var key: Int64
    var id: String
    /// How many messages were taken over just now; 0 for one that was adopted earlier.
    var messages = 0
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
    /// How many bytes may wait for a handler, as far as the store has room.
    var pendingShare: Int64 { get }
    /// The dead letters, and how many there may be; `nil` if none are kept.
    var deadLetterStock: DeadLetterStock? { get }
    /// About how many bytes one commit should write; `nil`: as many as there are.
    var commitBytes: Int64? { get }
    /// Bytes that wait for a handler, those of these installations left out. May take a while.
    func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64
    /// Rises when what waits for an agent that does not run may have changed: a message was made to wait, or the
    /// messages were moved to another file.
    var backlogRevision: Int { get }
    /// What has become of every message, as of the last commit.
    var ledger: MessageLedger { get }
    /// Nothing follows: what is put off otherwise is written now.
    func close()
    /// What became of damaged files, also in earlier processes: events that no agent has told yet.
    var notices: [PushEvent] { get }
    /// Forgets the notices, which were told.
    func removeNotices()

    /// The key of an installation, made if it is new; it is noted whose it is, if that is known.
    func installation(id: String, of owner: InboxOwner?) throws(InboxError) -> Int64
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
    /// Where a message stands that is kept on file; `nil` if it is not there.
    func standing(of sequence: Int64) throws(InboxError) -> MessageStanding?
    /// Makes a message wait for delivery, now: one that waits for its retry goes on from there, any other begins anew.
    func requeue(_ sequence: Int64, at now: Timestamp) throws(InboxError)
    /// Removes a message, now.
    func drop(_ sequence: Int64) throws(InboxError)
    /// Has an installation handle the messages of its owner's other ones, but for those that are received as now.
    ///
    /// - Returns: all installations whose messages it handles besides its own, earlier adopted ones included.
    func takeOver(_ installation: Int64, besides running: Set<Int64>) throws(InboxError) -> [Adoption]
    /// Has an installation handle the messages of another one; `nil` unless both are known.
    func adopt(_ formerID: String, by installationID: String) throws(InboxError) -> Adoption?
    /// The messages of an installation that are shown to the user, in the order of reception: the page after `sequence`.
    func presented(installation: Int64, after sequence: Int64, limit: Int) throws(InboxError) -> [StoredMessage]
    /// Makes room after a commit that failed with ``InboxError/Kind/full``.
    ///
    /// - Returns: how many messages that were handled it has removed for that; `nil` if it knows no way to make room.
    func makeRoom() -> Int?
    /// Writes a turn's work, or a part of it, whole or not at all.
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
