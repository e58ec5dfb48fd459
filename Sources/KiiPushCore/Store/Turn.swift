/// A connection, as the store and the pipeline see it. Loop thread only.
package protocol MessageLink: AnyObject {
    var installation: Int64 { get }
    /// The one topic that pushes arrive on.
    var topic: String { get }
    /// Whether this turn still has to call ``flush()``.
    var isQueuedForFlush: Bool { get set }

    /// The stored row that this message may repeat. Its bytes decide whether it does.
    func redeliveryCandidate(of arrival: Arrival) -> Int64?
    /// Notes that this turn repeats a row, until the turn is committed or has failed.
    func absorbs(_ row: Int64)
    /// Notes that a message of QoS 2 becomes this row, until the turn is committed or has failed.
    func inserted(_ row: Int64, _ arrival: Arrival)
    /// Takes back the notes of ``absorbs(_:)`` and ``inserted(_:_:)``: the commit failed, and its work will come again.
    func forgetAbsorptions()

    /// The message is now this row.
    func stored(_ row: Int64, _ arrival: Arrival)
    /// The message repeated this row.
    func absorbed(_ row: Int64, _ arrival: Arrival)
    /// Whether the installation's last connection brought this message. Only then may a later message repeat it.
    func isLatest(_ arrival: Arrival) -> Bool
    /// Whether the connection that brought a message stands, so that its acknowledgement can leave.
    func stillCarries(_ arrival: Arrival) -> Bool
    /// Opens the gate of one acknowledgement. Ignores a ticket of an earlier connection: its message comes again.
    func acknowledge(_ ticket: UInt64)
    /// Opens the gates of everything received up to this ticket, with the next ``flush()``.
    func acknowledgeThrough(_ ticket: UInt64)
    /// Sends everything that the turn has written, in one piece.
    func flush()
}

/// A message on its way from a connection into the store.
package struct Arrival {
    package let link: any MessageLink
    package let message: MQTTSession.InboundMessage
    /// The connection that it came on. The number rises with every connection, also across restarts.
    package let connection: Int64
    package let receivedAt: Timestamp
    package let content: DecodedContent
    /// Its source; `nil` if no handler may see the message.
    package let source: SourceID?
    /// Whether delivery has room for it; otherwise it waits in the store.
    package var isInHand = false

    package init(link: any MessageLink, message: MQTTSession.InboundMessage, connection: Int64, receivedAt: Timestamp) {
        (self.link, self.message, self.connection, self.receivedAt) = (link, message, connection, receivedAt)
        self.content = DecodedContent(
            payload: message.payload, originalLength: message.truncatedLength,
            // Compares bytes, as a broker does: to Swift, texts that only look the same are equal.
            isUnexpectedTopic: !message.topic.hasBytes(of: link.topic))
        self.source = self.content.source.map { SourceID(installation: link.installation, number: $0) }
    }

    package var bytes: Int { self.message.payload.count + self.message.topic.utf8.count }
}

/// The store's result for an ``Arrival``.
package enum StoredArrival: Sendable, Hashable {
    case new(Int64)
    /// The message repeats this row. `isFinal`: its outcome is known, nothing waits for it. `isInHand`: delivery has
    /// it.
    case redelivered(Int64, isFinal: Bool, isInHand: Bool)
}

/// The work of one turn for the store, in this order: claims see everything that the turn writes.
package struct Turn {
    package var changes: [MessageChange]
    package var arrivals: [Arrival]
    package var claims: [StoreClaim]

    package init(changes: [MessageChange] = [], arrivals: [Arrival] = [], claims: [StoreClaim] = []) {
        (self.changes, self.arrivals, self.claims) = (changes, arrivals, claims)
    }

    package var isEmpty: Bool { self.changes.isEmpty && self.arrivals.isEmpty && self.claims.isEmpty }

    /// The bytes of a change: a verdict changes a page, and the store writes whole pages.
    private static let changeBytes: Int64 = 4096

    /// Takes the first part of the turn, which writes about `bytes`; `nil`: all of it. Changes come first, since they
    /// free room. Claims come before arrivals: when arrivals have no room, handling stored messages makes some. Each
    /// claim is a part of its own: the store limits the rows that it takes in hand.
    mutating func takePart(of bytes: Int64?) -> Turn {
        guard let bytes else {
            defer { self = Turn() }
            return self
        }
        var part = Turn()
        if !self.changes.isEmpty {
            part.changes = Array(self.changes.prefix(Int(max(bytes / Turn.changeBytes, 1))))
            self.changes.removeFirst(part.changes.count)
        } else if !self.claims.isEmpty {
            part.claims = [self.claims.removeFirst()]
        } else if !self.arrivals.isEmpty {
            var left = bytes
            let count = self.arrivals.firstIndex { arrival in
                defer { left -= 2 * (Int64(arrival.bytes) + InboxCounts.rowOverhead) }
                return left <= 0
            }
            part.arrivals = Array(self.arrivals.prefix(count ?? self.arrivals.count))
            self.arrivals.removeFirst(part.arrivals.count)
        }
        return part
    }

    mutating func putBack(_ part: Turn) {
        self.changes.insert(contentsOf: part.changes, at: 0)
        self.arrivals.insert(contentsOf: part.arrivals, at: 0)
        self.claims.insert(contentsOf: part.claims, at: 0)
    }
}

/// The results of a turn's work, once it is committed.
package struct TurnOutcome: Sendable {
    /// A message that waits now and did not before.
    package struct Appearance: Sendable, Hashable {
        package var sequence: Int64
        package var installation: Int64
        /// `nil` while it belongs to no source.
        package var source: Int64?

        package init(sequence: Int64, installation: Int64, source: Int64?) {
            (self.sequence, self.installation, self.source) = (sequence, installation, source)
        }
    }

    package var arrivals: [StoredArrival] = []
    package var answers: [StoreAnswer] = []
    package var appeared: [Appearance] = []
    /// The rows whose outcome became final in this turn.
    package var finished: [Int64] = []
    /// The reasons why answers with work are not written, by message.
    package var refusals: [Int64: AnswerRefusal] = [:]
    /// The answers that the next turn must write.
    func postponed(of changes: [MessageChange]) -> [MessageChange] {
        guard !self.refusals.isEmpty else { return [] }
        return changes.filter { change in
            if case .committing = change.verdict { self.refusals[change.sequence] == .postponed } else { false }
        }
    }

    /// Number of dead letters that nobody can handle and that made room for newer ones.
    package var removedDeadLetters = 0
    package var isMoved = false
    /// The time until the store needs upkeep, in a commit of its own if there is no other; `nil`: never.
    package var upkeepDue: Duration?

    package init() {}
}
