import KiiPushCore

/// Stores a session's messages as its caller does, and checks the detection of repetitions.
struct FilterModel {
    private struct Row {
        let packetID: UInt16
        let payload: [UInt8]
        /// Ticket of the last message that this row stands for.
        var ticket: UInt64
        var isProven = false
    }

    private var filter = RedeliveryFilter()
    private var rows: [Int64: Row] = [:]
    private var lastSequence: Int64 = 0
    private var firstTicket: UInt64 = 1
    private var lastProvenSequence: Int64 = 0

    mutating func connectionOpened(firstTicket: UInt64) {
        self.firstTicket = firstTicket
        self.filter.connectionOpened(firstTicket: firstTicket)
    }

    /// Acts on an output as the session's caller does: first on the events, then on the messages.
    mutating func violations(_ output: MQTTSession.Output, of session: borrowing MQTTSession) -> [String] {
        var claims = Claims()
        for event in output.events {
            switch event {
            case .acknowledgementsProven(let ticket):
                self.filter.proven(through: ticket)
                for (sequence, row) in self.rows where (self.firstTicket...ticket).contains(row.ticket) {
                    self.rows[sequence]?.isProven = true
                }
            case .redeliveryWindowPassed: self.filter.redeliveryWindowPassed()
            case .sessionMayBeNew: self.filter.sessionMayBeNew()
            default: break
            }
        }
        for message in output.messages {
            self.filter.received(message, beganWithPubrel: session.beganWithPubrel)
            self.take(message, unacknowledgedFrom: session.firstUnacknowledgedTicket, &claims)
        }
        claims.require(self.filter.count <= 65_535, "one row is held for a packet identifier")
        let proven = self.filter.provenSequence
        claims.require(proven >= self.lastProvenSequence, "what is proven stays so")
        claims.require(proven <= self.lastSequence, "no more is proven than there is")
        self.lastProvenSequence = proven
        return claims.violated
    }

    private mutating func take(
        _ message: MQTTSession.InboundMessage, unacknowledgedFrom: UInt64, _ claims: inout Claims
    ) {
        if let sequence = self.filter.candidate(for: message, unacknowledgedFrom: unacknowledgedFrom) {
            guard var row = self.rows[sequence] else {
                claims.require(false, "what is repeated was stored")
                return
            }
            claims.require(message.duplicate || message.isUnreleased, "what repeats says so")
            claims.require(message.packetID == row.packetID, "what repeats has the identifier of its row")
            claims.require(!row.isProven || message.isUnreleased, "what is proven does not come again")
            if row.payload == message.payload, let ticket = message.ticket {
                row.ticket = ticket
                self.rows[sequence] = row
                self.filter.absorbed(sequence: sequence, by: message)
                return
            }
        }
        self.lastSequence += 1
        if let packetID = message.packetID, let ticket = message.ticket {
            self.rows[self.lastSequence] = Row(
                packetID: packetID, payload: message.payload, ticket: ticket)
        }
        self.filter.stored(sequence: self.lastSequence, as: message)
    }
}
