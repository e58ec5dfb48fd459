/// What one connection's broker is known to have read. A broker answers packets in the order in which they came, so
/// PINGRESP proves that all acknowledgements sent before its PINGREQ have arrived.
struct ArrivalProof: Sendable {
    private struct Ping {
        /// The last ticket whose acknowledgement was sent before it.
        let through: UInt64
        /// How many PINGREQ in a row prove no more than that.
        var count: Int
    }

    /// So many questions are kept apart; further ones count as if asked with the last of them, which proves less.
    private static let maximumOutstanding = 8

    private var outstanding: [Ping] = []
    private var asked: UInt64
    private var proven: UInt64

    /// - Parameter firstTicket: that of the connection.
    init(firstTicket: UInt64) {
        self.asked = firstTicket - 1
        self.proven = firstTicket - 1
    }

    var isAwaited: Bool { !self.outstanding.isEmpty }

    /// Whether so many acknowledgements were sent since the last PINGREQ that one more is due.
    func isDue(lastSent: UInt64, limit: Int) -> Bool {
        self.outstanding.count < Self.maximumOutstanding && lastSent > self.asked
            && lastSent - self.asked >= UInt64(max(1, limit))
    }

    /// A PINGREQ was sent behind the acknowledgement with this ticket.
    mutating func pingSent(lastSent: UInt64) {
        if let last = self.outstanding.indices.last,
            self.outstanding[last].through == lastSent || self.outstanding.count == Self.maximumOutstanding
        {
            self.outstanding[last].count += 1
        } else {
            self.outstanding.append(Ping(through: lastSent, count: 1))
            self.asked = lastSent
        }
    }

    /// The ticket through which everything is proven, if that is news. An answer that was not asked for proves nothing.
    mutating func pongReceived() -> UInt64? {
        guard let ping = self.outstanding.first else { return nil }
        if ping.count > 1 { self.outstanding[0].count -= 1 } else { self.outstanding.removeFirst() }
        guard ping.through > self.proven else { return nil }
        self.proven = ping.through
        return ping.through
    }
}
