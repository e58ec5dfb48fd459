#if Postgres
/// The lead of the database's calendar over this machine's. Gateways write the database's times, so that these agree
/// whatever clock a machine has.
struct DatabaseClock: Sendable, Hashable {
    /// In milliseconds.
    private(set) var lead: Int64 = 0

    /// Takes an answer: it was `time` there at some point between two moments here, all in milliseconds. A slow answer says
    /// little, and the lead stays as long as it agrees with the answer.
    mutating func note(_ time: Int64, from first: Int64, to last: Int64) {
        self.lead = min(max(self.lead, time - last), time - first)
    }
}
#endif
