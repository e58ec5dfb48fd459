#if Postgres
/// How far the database's calendar is ahead of this machine's. What gateways write has the database's times, so that they
/// agree whatever clock a machine has.
struct DatabaseClock: Sendable, Hashable {
    /// In milliseconds.
    private(set) var lead: Int64 = 0

    /// Takes an answer: it was `time` there at some point between two moments here, all in milliseconds. A slow answer says
    /// little, and what is believed stays as long as it agrees with it.
    mutating func note(_ time: Int64, from first: Int64, to last: Int64) {
        self.lead = min(max(self.lead, time - last), time - first)
    }
}
#endif
