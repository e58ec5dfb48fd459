/// Which stored message a PUBLISH may be a repetition of.
///
/// Kii's payloads carry no identifier and equal bytes can be two messages, so a message is known by the row it was
/// stored in. A PUBLISH can only repeat a row if DUP is set, if the row came with the same packet identifier, and if
/// its acknowledgement is not known to have arrived: it was received on an earlier connection and its broker may never
/// have read the acknowledgement, or on this one and the acknowledgement was not sent yet. Then the caller compares
/// topic and bytes. In doubt the message is new: a message twice is better than a message lost.
///
/// Some brokers (RabbitMQ) number from 1 on each connection. There an identifier of an earlier connection says nothing:
/// of equal messages, one that was written and never read comes back under the identifier of one that is done, with DUP.
/// So rows of earlier connections count only once the broker has shown that it keeps identifiers, by a connection that
/// begins with another one than 1.
///
/// A packet identifier stands for the row that came with it last, so at most 65,535 rows are held. Where a broker keeps
/// its identifiers, a new message under an old one shows that the old one is done ([MQTT-2.3.1-4]); where it numbers
/// anew on each connection, dropping the old row can repeat a message, and cannot lose one.
package struct RedeliveryFilter: Sendable, Hashable {
    /// A row that an earlier process left behind.
    package struct RestoredRow: Sendable, Hashable {
        package var sequence: Int64
        package var packetID: UInt16
        /// DUP of the PUBLISH that brought it.
        package var duplicate: Bool
        /// The number of the connection that brought it, in any numbering that never repeats.
        package var connection: Int64

        package init(sequence: Int64, packetID: UInt16, duplicate: Bool, connection: Int64) {
            self.sequence = sequence
            self.packetID = packetID
            self.duplicate = duplicate
            self.connection = connection
        }
    }

    private struct Row: Hashable {
        var sequence: Int64
        /// Of the last PUBLISH that brought it; 0 if that was in an earlier process.
        var ticket: UInt64
    }

    private var rows: [UInt16: Row] = [:]
    private var lastSequence: Int64 = 0
    /// The first ticket of the present connection.
    private var firstTicket: UInt64 = 1
    /// The present connection's acknowledgements are known to have arrived up to this ticket.
    private var provenThrough: UInt64 = 0
    /// Whether the broker is known to keep packet identifiers over connections.
    private var keepsIdentifiers = false
    /// Whether the present connection has brought no message with an identifier yet.
    private var isBeginning = true

    package init() {}

    /// Takes over what an earlier process stored and did not see proven.
    ///
    /// - Parameters:
    ///   - stored: The rows above `provenSequence`, in ascending order of sequence.
    ///   - provenSequence: What the earlier process last kept of ``provenSequence``.
    package init(restoring stored: some Sequence<RestoredRow>, provenSequence: Int64 = 0) {
        self.lastSequence = provenSequence
        var last: [UInt16: RestoredRow] = [:]
        var provenOnConnection: [Int64: Int64] = [:]
        for row in stored {
            if let former = last[row.packetID], former.connection == row.connection, !row.duplicate {
                let proven = provenOnConnection[row.connection, default: 0]
                provenOnConnection[row.connection] = max(proven, former.sequence)
            }
            last[row.packetID] = row
            self.lastSequence = row.sequence
        }
        for row in last.values where row.sequence > provenOnConnection[row.connection, default: 0] {
            self.rows[row.packetID] = Row(sequence: row.sequence, ticket: 0)
        }
    }

    /// How many rows a PUBLISH may repeat.
    package var count: Int { self.rows.count }

    /// The sequence up to which no row can be repeated. To be kept when it has grown, which it does when something was
    /// proven, lost or out of time; it takes a look at all rows.
    package var provenSequence: Int64 {
        self.rows.values.lazy.map { $0.sequence - 1 }.min() ?? self.lastSequence
    }

    /// A connection of the session begins; `firstTicket` is the ticket that its first message will get.
    package mutating func connectionOpened(firstTicket: UInt64) {
        self.removeProven()
        self.firstTicket = firstTicket
        self.provenThrough = firstTicket - 1
        self.isBeginning = true
    }

    /// A message has come. To be told of each, in order, before anything is asked about it.
    package mutating func received(_ message: MQTTSession.InboundMessage) {
        guard self.isBeginning, let packetID = message.packetID else { return }
        self.isBeginning = false
        if packetID != 1 { self.keepsIdentifiers = true }
    }

    /// The row that `message` may repeat. It does if topic and payload are equal too.
    ///
    /// - Parameter unacknowledgedFrom: The session's ``MQTTSession/firstUnacknowledgedTicket``.
    package func candidate(for message: MQTTSession.InboundMessage, unacknowledgedFrom: UInt64) -> Int64? {
        guard message.duplicate, let packetID = message.packetID, let row = self.rows[packetID] else { return nil }
        let isOfThisConnection = row.ticket >= self.firstTicket
        let isOpen = isOfThisConnection ? row.ticket >= unacknowledgedFrom : self.keepsIdentifiers
        return isOpen ? row.sequence : nil
    }

    /// `message` is new and was stored as this row.
    package mutating func stored(
        sequence: Int64,
        as message: MQTTSession.InboundMessage,
        unacknowledgedFrom: UInt64
    ) {
        guard let packetID = message.packetID, let ticket = message.ticket else { return }
        let former = self.rows.updateValue(Row(sequence: sequence, ticket: ticket), forKey: packetID)
        self.lastSequence = max(self.lastSequence, sequence)
        // [MQTT-2.3.1-4]: the broker uses the identifier again, so it has read its acknowledgement, and with it all
        // that were sent before. With DUP it may be the publisher's flag passed through, which says nothing.
        if let former, !message.duplicate, former.ticket >= self.firstTicket, former.ticket < unacknowledgedFrom {
            self.provenThrough = max(self.provenThrough, former.ticket)
        }
    }

    /// `message` repeats this row, which from now on waits for the acknowledgement of `message`.
    package mutating func absorbed(sequence: Int64, by message: MQTTSession.InboundMessage) {
        guard let packetID = message.packetID, let ticket = message.ticket else { return }
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

    /// The broker has a new session, and knows none of the rows.
    package mutating func sessionLost() {
        self.rows.removeAll()
        // It may be another broker too.
        self.keepsIdentifiers = false
    }

    private mutating func removeProven() {
        guard self.provenThrough >= self.firstTicket else { return }
        let proven = self.firstTicket...self.provenThrough
        self.rows = self.rows.filter { !proven.contains($0.value.ticket) }
    }
}
