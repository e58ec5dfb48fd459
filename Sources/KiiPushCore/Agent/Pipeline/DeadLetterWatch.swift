struct DeadLetterWatch {
    /// The shortest time between two reports of removals.
    private static let interval: Duration = .seconds(60)

    /// The installations whose agents know that reading has stopped; `nil` while reading goes on.
    private var told: Set<Int64>?
    private var removals = 0
    private var removalsToldAt: MonotonicInstant?

    /// Whether there are too many dead letters to go on reading. All agents get the report again when another agent
    /// starts.
    mutating func stopReading(
        _ stock: DeadLetterStock?, of running: () -> Set<Int64>, report: (PushEvent) -> Void
    ) -> Bool {
        guard let stock else { return false }
        if self.told != nil, stock.hasRoom {
            self.told = nil
            report(.recovered(.receiving))
        }
        guard stock.isFull || self.told != nil else { return false }
        let running = running()
        if !running.isSubset(of: self.told ?? []) { report(.trouble(.receiving, reason: stock.advice)) }
        self.told = running
        return true
    }

    mutating func removed(_ count: Int, at now: MonotonicInstant, report: (PushEvent) -> Void) {
        self.removals += count
        guard self.removals > 0, self.removalsToldAt.map({ now - $0 >= Self.interval }) ?? true else { return }
        let reason = "\(self.removals) dead letters that nobody can handle made room for newer ones"
        report(.notice(.deadLettersRemoved, reason: reason, messages: self.removals))
        self.removals = 0
        self.removalsToldAt = now
    }
}
