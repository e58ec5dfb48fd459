/// The MQTT session of an installation, whose connections bring messages. Only the loop's thread uses it.
package protocol MessageLink: AnyObject {
    var installation: Int64 { get }
    var topic: String { get }
    var isQueuedForFlush: Bool { get set }

    /// The stored row that this message may repeat. The store then compares the bytes.
    func redeliveryCandidate(of arrival: Arrival) -> Int64?
    /// Remembers, until the commit ends, that a message repeats this row.
    func absorbs(_ row: Int64)
    /// Remembers, until the commit ends, that a message of QoS 2 becomes this row.
    func inserted(_ row: Int64, _ arrival: Arrival)
    /// Undoes ``absorbs(_:)`` and ``inserted(_:_:)`` after a failed commit.
    func forgetAbsorptions()

    /// The commit stored the message as this row.
    func stored(_ row: Int64, _ arrival: Arrival)
    /// The commit found that the message repeats this row.
    func absorbed(_ row: Int64, _ arrival: Arrival)
    /// Whether the installation's last connection brought this message. The broker repeats only such messages.
    func isLatest(_ arrival: Arrival) -> Bool
    /// Whether the connection that brought the message can still carry its acknowledgement.
    func isCurrent(_ arrival: Arrival) -> Bool
    /// Allows one acknowledgement. Ignores a ticket of an earlier connection: the broker delivers its message again.
    func acknowledge(_ ticket: UInt64)
    /// Allows all acknowledgements up to this ticket. The next ``flush()`` sends them.
    func acknowledgeThrough(_ ticket: UInt64)
    func flush()
}

/// A message from a connection, on its way into the store.
package struct Arrival {
    package let link: any MessageLink
    package let message: MQTTSession.InboundMessage
    /// The number of the connection, which rises with every connection, also across restarts.
    package let connection: Int64
    package let receivedAt: Timestamp
    package let content: DecodedContent
    /// `nil` if no handler may see the message.
    package let source: SourceID?
    /// Whether delivery has room for the message; otherwise it waits in the store.
    package var isInHand = false

    package init(link: any MessageLink, message: MQTTSession.InboundMessage, connection: Int64, receivedAt: Timestamp) {
        (self.link, self.message, self.connection, self.receivedAt) = (link, message, connection, receivedAt)
        self.content = DecodedContent(
            payload: message.payload, originalLength: message.truncatedLength,
            // Compares bytes, as a broker does: Swift's `==` ignores differences of Unicode normalization.
            isUnexpectedTopic: !message.topic.hasBytes(of: link.topic))
        self.source = self.content.source.map { SourceID(installation: link.installation, number: $0) }
    }

    package var bytes: Int { self.message.payload.count + self.message.topic.utf8.count }
}

package enum StoredArrival: Sendable, Hashable {
    case new(Int64)
    /// The message repeats this row. `isFinal`: its acknowledgement may leave at once. `isInHand`: the message is in
    /// memory.
    case redelivered(Int64, isFinal: Bool, isInHand: Bool)
}

/// The work of one pass of the event loop for the store. A whole turn is done in the order of these properties, so its
/// claims see its changes and arrivals.
package struct Turn {
    package var changes: [MessageChange]
    package var arrivals: [Arrival]
    package var claims: [StoreClaim]

    package init(changes: [MessageChange] = [], arrivals: [Arrival] = [], claims: [StoreClaim] = []) {
        (self.changes, self.arrivals, self.claims) = (changes, arrivals, claims)
    }

    package var isEmpty: Bool { self.changes.isEmpty && self.arrivals.isEmpty && self.claims.isEmpty }

    /// A change of a row writes one page.
    private static let changeBytes: Int64 = 4096

    /// Takes the next part: changes or arrivals that write about `bytes`, or one claim; `nil` takes the whole turn.
    /// Changes come first, since they free room. Claims come before arrivals: handling stored messages makes room.
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

package struct TurnOutcome: Sendable {
    package struct Appearance: Sendable, Hashable {
        package var sequence: Int64
        package var installation: Int64
        package var source: Int64?

        package init(sequence: Int64, installation: Int64, source: Int64?) {
            (self.sequence, self.installation, self.source) = (sequence, installation, source)
        }
    }

    package var arrivals: [StoredArrival] = []
    package var answers: [StoreAnswer] = []
    package var appeared: [Appearance] = []
    /// The rows whose acknowledgements may leave after this turn.
    package var finished: [Int64] = []
    package var refusals: [Int64: AnswerRefusal] = [:]
    func postponed(of changes: [MessageChange]) -> [MessageChange] {
        guard !self.refusals.isEmpty else { return [] }
        return changes.filter { change in
            if case .committing = change.verdict { self.refusals[change.sequence] == .postponed } else { false }
        }
    }

    /// Number of dead letters that the store removed to make room for newer ones.
    package var removedDeadLetters = 0
    package var isMoved = false
    /// The time until the store needs a commit, even of an empty turn; `nil`: no commit is due.
    package var upkeepDue: Duration?

    package init() {}
}
