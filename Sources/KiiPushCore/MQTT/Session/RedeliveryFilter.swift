/// Which stored message a PUBLISH may be a repetition of.
///
/// Kii's payloads carry no identifier and equal bytes can be two messages, so a message is known by the row it was
/// stored in. A PUBLISH can only repeat a row if DUP is set, if the row came with the same packet identifier, and if
/// its acknowledgement is not known to have arrived: it was received on an earlier connection and its broker may never
/// have read the acknowledgement, or on this one and the acknowledgement was not sent yet. Then the caller compares
/// topic and bytes. In doubt the message is new: a message twice is better than a message lost.
///
/// What an identifier of an earlier connection says is up to the broker:
///
/// - Some (RabbitMQ) number from 1 on each connection: of equal messages, one that was written and never read comes back
///   under the identifier of one that is done, with DUP. So rows of earlier connections count only once the broker has
///   shown that it keeps identifiers, by a connection that begins with another one than 1. One that begins with PUBREL
///   shows nothing: that may have had 1.
/// - MQTT lets a broker use an identifier again as soon as it is free ([MQTT-2.3.1-4]), and one that was restored from an
///   old copy of its state counts from there: the same could happen. So rows of earlier connections do not count any more
///   once an identifier did not lie ahead of the one before, among new messages or among those that a connection repeats.
/// - Those that count start again after 65,535, so only rows of the last 32,767 count.
///
/// At QoS 2 the protocol itself says it: until PUBREL a packet identifier stands for one message, [MQTT-4.3.3-2].
///
/// A packet identifier stands for the row that came with it last, so at most 65,535 rows are held, and as many of QoS 2.
package struct RedeliveryFilter: Sendable, Hashable {
    private enum Numbering {
        /// Exits: `kept`, by a connection that begins with another one than 1; `reused`.
        case unknown
        /// They are kept over connections. Exit: `reused`.
        case kept
        /// Those of earlier messages are used again before all others were. Like both others left by a new session.
        case reused
    }

    private struct Row: Hashable {
        var sequence: Int64
        /// Of the last PUBLISH that brought it; 0 if that was in an earlier process.
        var ticket: UInt64
    }

    private var rows: [UInt16: Row] = [:]
    /// The last row of QoS 2 by its identifier. One that was released stays until its identifier is used again.
    private var exactlyOnceRows: [UInt16: Int64] = [:]
    /// Of those that were stored.
    package private(set) var lastSequence: Int64 = 0
    /// The first ticket of the present connection.
    private var firstTicket: UInt64 = 1
    /// The present connection's acknowledgements are known to have arrived up to this ticket.
    private var provenThrough: UInt64 = 0
    /// What the broker's packet identifiers are known to be.
    private var numbering = Numbering.unknown
    /// Whether the present connection has brought no message with an identifier yet.
    private var isBeginning = true
    /// That of the last message without DUP; 0 if there was none.
    private var lastNewID: UInt16 = 0
    /// That of the present connection's last message with DUP; 0 if there was none.
    private var lastRepeatedID: UInt16 = 0

    /// Half of all identifiers: what lies farther ahead lies behind.
    private static let horizon: UInt16 = 32_767

    package init() {}

    /// Takes over what an earlier process stored and did not see proven, in ascending order of sequence.
    package init(restoring stored: [(sequence: Int64, packetID: UInt16)]) {
        for (sequence, packetID) in stored {
            self.rows[packetID] = Row(sequence: sequence, ticket: 0)
            self.lastSequence = sequence
        }
    }

    package var count: Int { self.rows.count }

    /// The sequence up to which no row can be repeated. To be kept when it has grown, which it does when something was
    /// proven, lost or out of time; it takes a look at all rows.
    package var provenSequence: Int64 { self.rows.values.lazy.map { $0.sequence - 1 }.min() ?? self.lastSequence }

    /// A connection of the session begins; `firstTicket` is the ticket that its first message will get.
    package mutating func connectionOpened(firstTicket: UInt64) {
        self.removeProven()
        self.firstTicket = firstTicket
        self.provenThrough = firstTicket - 1
        self.isBeginning = true
        self.lastRepeatedID = 0
    }

    /// To be told of each message, in order, before anything is asked about it; with ``MQTTSession/beganWithRelease``.
    package mutating func received(_ message: MQTTSession.InboundMessage, beganWithRelease: Bool) {
        // One that is repeated at QoS 2 says nothing of how identifiers are given out.
        guard let packetID = message.packetID, !message.isUnreleased else { return }
        let showsIdentifiers = self.isBeginning && packetID != 1 && !beganWithRelease
        if showsIdentifiers, self.numbering == .unknown { self.numbering = .kept }
        self.isBeginning = false
        let former = message.duplicate ? self.lastRepeatedID : self.lastNewID
        let distance = packetID &- former
        if former != 0, distance == 0 || distance > RedeliveryFilter.horizon { self.numbering = .reused }
        if message.duplicate { self.lastRepeatedID = packetID } else { self.lastNewID = packetID }
    }

    /// The row that `message` may repeat: it does if topic and payload are equal too. `unacknowledgedFrom` is
    /// ``MQTTSession/firstUnacknowledgedTicket``.
    package func candidate(for message: MQTTSession.InboundMessage, unacknowledgedFrom: UInt64) -> Int64? {
        if message.isUnreleased { return message.packetID.flatMap { self.exactlyOnceRows[$0] } }
        guard message.duplicate, let packetID = message.packetID, let row = self.rows[packetID] else { return nil }
        if row.ticket >= self.firstTicket { return row.ticket >= unacknowledgedFrom ? row.sequence : nil }
        let isRecent = self.lastSequence - row.sequence < Int64(RedeliveryFilter.horizon)
        return self.numbering == .kept && isRecent ? row.sequence : nil
    }

    /// `message` is new and was stored as this row.
    package mutating func stored(sequence: Int64, as message: MQTTSession.InboundMessage) {
        guard let packetID = message.packetID, let ticket = message.ticket else { return }
        self.rows[packetID] = Row(sequence: sequence, ticket: ticket)
        self.lastSequence = max(self.lastSequence, sequence)
        if message.qos == .exactlyOnce { self.exactlyOnceRows[packetID] = sequence }
    }

    /// `message` repeats this row, which from now on waits for the acknowledgement of `message`.
    package mutating func absorbed(sequence: Int64, by message: MQTTSession.InboundMessage) {
        guard let packetID = message.packetID, let ticket = message.ticket else { return }
        // What was proven stays so, though the broker has not released it.
        if message.isUnreleased, self.rows[packetID]?.sequence != sequence { return }
        self.rows[packetID] = Row(sequence: sequence, ticket: ticket)
    }

    /// The present connection's acknowledgements have arrived up to this ticket.
    package mutating func proven(through ticket: UInt64) {
        self.provenThrough = max(self.provenThrough, ticket)
        self.removeProven()
    }

    /// The broker had time enough to send again what it had of earlier connections.
    package mutating func redeliveryWindowPassed() {
        self.rows = self.rows.filter { $0.value.ticket >= self.firstTicket }
    }

    /// The broker may have a new session, and know none of the rows. It may be another broker too.
    package mutating func sessionMayBeNew() {
        self.rows.removeAll()
        self.exactlyOnceRows.removeAll()
        self.numbering = .unknown
        self.lastNewID = 0
    }

    private mutating func removeProven() {
        guard self.provenThrough >= self.firstTicket else { return }
        let proven = self.firstTicket...self.provenThrough
        self.rows = self.rows.filter { !proven.contains($0.value.ticket) }
    }
}
