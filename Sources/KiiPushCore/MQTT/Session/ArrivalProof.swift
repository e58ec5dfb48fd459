/// Tracks which acknowledgements the broker has read. A broker answers packets in order, so PINGRESP proves that the
/// broker has read all acknowledgements before the PINGREQ.
struct ArrivalProof: Sendable {
    private struct Ping {
        /// The ticket of the last acknowledgement sent before the PINGREQ.
        let through: UInt64
        var count: Int
    }

    /// The most unanswered PINGREQ to track. Further PINGREQ count as repetitions of the last one.
    private static let maximumOutstanding = 8

    private var outstanding: [Ping] = []
    private var asked: UInt64
    private var proven: UInt64

    init(firstTicket: UInt64) {
        self.asked = firstTicket - 1
        self.proven = firstTicket - 1
    }

    var isAwaited: Bool { !self.outstanding.isEmpty }

    /// Whether at least `limit` acknowledgements were sent since the last PINGREQ; false if too many PINGREQ are
    /// unanswered.
    func isDue(lastSent: UInt64, limit: Int) -> Bool {
        self.outstanding.count < Self.maximumOutstanding && lastSent > self.asked
            && lastSent - self.asked >= UInt64(max(1, limit))
    }

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

    /// Returns the highest proven ticket, if this PINGRESP proves further acknowledgements. An unrequested PINGRESP
    /// proves nothing.
    mutating func pongReceived() -> UInt64? {
        guard let ping = self.outstanding.first else { return nil }
        if ping.count > 1 { self.outstanding[0].count -= 1 } else { self.outstanding.removeFirst() }
        guard ping.through > self.proven else { return nil }
        self.proven = ping.through
        return ping.through
    }
}
