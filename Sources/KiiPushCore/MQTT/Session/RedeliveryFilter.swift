/// Finds the stored message that a PUBLISH may repeat.
///
/// Kii's payloads have no identifier, and two messages can have equal bytes. At QoS 2, until PUBREL a packet identifier
/// names one message ([MQTT-4.3.3-2]). Any other PUBLISH can repeat a stored row only if all of these hold:
///
/// - DUP is set.
/// - The row came with the same packet identifier.
/// - The row's acknowledgement may not have arrived: it is unsent on this connection, or unproven on an earlier
///   connection.
///
/// The caller then compares topic and bytes. In doubt the message is new: a duplicate is better than a loss.
///
/// Brokers number packets differently on a new connection:
///
/// - Some (RabbitMQ) begin with 1. A message that this client never received then comes with DUP, and with the
///   identifier of an older, acknowledged message. So rows of earlier connections count only after a connection has
///   begun with a message whose identifier is not 1.
/// - A broker may reuse an identifier as soon as it is free ([MQTT-2.3.1-4]). So rows of earlier connections stop
///   counting once an identifier is not ahead of the previous identifier. The filter compares messages without DUP with
///   each other, and messages with DUP of one connection with each other.
/// - Brokers that count begin again after 65,535, so only the last 32,767 rows count.
///
/// The filter holds the last row for each packet identifier: at most 65,535 rows, and as many of QoS 2.
package struct RedeliveryFilter: Sendable, Hashable {
    private enum Numbering {
        /// Not known yet. Exits: `kept`, when a connection begins with an identifier other than 1; `reused`.
        case unknown
        /// The broker continues its numbering on the next connection. Exit: `reused`.
        case kept
        /// The broker reuses identifiers before it has used all others. A new session leads back to `unknown`, from
        /// every state.
        case reused
    }

    private struct Row: Hashable {
        var sequence: Int64
        /// The ticket of the last PUBLISH of this row; 0 if the row was restored at the start of the program.
        var ticket: UInt64
    }

    private var rows: [UInt16: Row] = [:]
    /// The last QoS 2 row of each identifier. After PUBREL, the row stays until the broker reuses the identifier.
    private var exactlyOnceRows: [UInt16: Int64] = [:]
    package private(set) var lastSequence: Int64 = 0
    private var firstTicket: UInt64 = 1
    private var provenThrough: UInt64 = 0
    private var numbering = Numbering.unknown
    private var isBeginning = true
    /// The identifier of the last message without DUP; 0: none.
    private var lastNewID: UInt16 = 0
    /// The identifier of this connection's last message with DUP; 0: none.
    private var lastRepeatedID: UInt16 = 0

    /// Half of all identifiers. A greater distance ahead counts as behind.
    private static let horizon: UInt16 = 32_767

    package init() {}

    /// The rows must be in ascending order.
    package init(restoring stored: [(sequence: Int64, packetID: UInt16)]) {
        for (sequence, packetID) in stored {
            self.rows[packetID] = Row(sequence: sequence, ticket: 0)
            self.lastSequence = sequence
        }
    }

    package var count: Int { self.rows.count }

    /// The broker should not redeliver rows up to this number: the filter holds none of them. Scans all rows.
    package var provenSequence: Int64 { self.rows.values.lazy.map { $0.sequence - 1 }.min() ?? self.lastSequence }

    package mutating func connectionOpened(firstTicket: UInt64) {
        self.removeProven()
        self.firstTicket = firstTicket
        self.provenThrough = firstTicket - 1
        self.isBeginning = true
        self.lastRepeatedID = 0
    }

    /// Learns the broker's numbering from each message, in order. Call this before any other method for the message.
    package mutating func received(_ message: MQTTSession.InboundMessage, beganWithPubrel: Bool) {
        // A repeat at QoS 2 does not show how the broker assigns identifiers.
        guard let packetID = message.packetID, !message.isUnreleased else { return }
        let showsIdentifiers = self.isBeginning && packetID != 1 && !beganWithPubrel
        if showsIdentifiers, self.numbering == .unknown { self.numbering = .kept }
        self.isBeginning = false
        let former = message.duplicate ? self.lastRepeatedID : self.lastNewID
        let distance = packetID &- former
        if former != 0, distance == 0 || distance > RedeliveryFilter.horizon { self.numbering = .reused }
        if message.duplicate { self.lastRepeatedID = packetID } else { self.lastNewID = packetID }
    }

    /// Returns the row that `message` repeats if topic and payload are equal too. `unacknowledgedFrom` is
    /// ``MQTTSession/firstUnacknowledgedTicket``.
    package func candidate(for message: MQTTSession.InboundMessage, unacknowledgedFrom: UInt64) -> Int64? {
        if message.isUnreleased { return message.packetID.flatMap { self.exactlyOnceRows[$0] } }
        guard message.duplicate, let packetID = message.packetID, let row = self.rows[packetID] else { return nil }
        if row.ticket >= self.firstTicket { return row.ticket >= unacknowledgedFrom ? row.sequence : nil }
        let isRecent = self.lastSequence - row.sequence < Int64(RedeliveryFilter.horizon)
        return self.numbering == .kept && isRecent ? row.sequence : nil
    }

    package mutating func stored(sequence: Int64, as message: MQTTSession.InboundMessage) {
        guard let packetID = message.packetID, let ticket = message.ticket else { return }
        self.rows[packetID] = Row(sequence: sequence, ticket: ticket)
        self.lastSequence = max(self.lastSequence, sequence)
        if message.qos == .exactlyOnce { self.exactlyOnceRows[packetID] = sequence }
    }

    /// Records that this row came over an earlier connection. No message counts as its redelivery.
    package mutating func passed(sequence: Int64) { self.lastSequence = max(self.lastSequence, sequence) }

    /// Records that `message` repeats this row. The row now waits for the acknowledgement of `message`.
    package mutating func absorbed(sequence: Int64, by message: MQTTSession.InboundMessage) {
        guard let packetID = message.packetID, let ticket = message.ticket else { return }
        // A row that was removed as acknowledged stays removed, even if its PUBREL has not arrived.
        if message.isUnreleased, self.rows[packetID]?.sequence != sequence { return }
        self.rows[packetID] = Row(sequence: sequence, ticket: ticket)
    }

    package mutating func proven(through ticket: UInt64) {
        self.provenThrough = max(self.provenThrough, ticket)
        self.removeProven()
    }

    /// Drops the rows of earlier connections: the broker had enough time to redeliver them.
    package mutating func redeliveryWindowPassed() {
        self.rows = self.rows.filter { $0.value.ticket >= self.firstTicket }
    }

    /// Drops all rows: they mean nothing in a new session.
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
