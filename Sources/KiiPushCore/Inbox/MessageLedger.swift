/// Numbers of messages that an inbox has received, by outcome.
///
/// An inbox in a file counts from its first message, across restarts. An inbox in memory counts from the start of the
/// runtime.
public struct MessageLedger: Sendable, Hashable {
    /// Arrivals, including repeated ones.
    public var received: Int64
    /// Arrivals of messages that the inbox already had. They are part of ``received``.
    public var duplicates: Int64
    /// Messages that wait for a handler or for another attempt.
    public var waiting: Int64
    /// Messages that are being handled.
    public var running: Int64
    /// Messages shown to the user, who has not reacted.
    public var presented: Int64
    /// Messages whose handler succeeded, or that had no handler to call. Includes messages whose rows were removed
    /// later.
    public var done: Int64
    /// Dead letters: messages that delivery gave up on. An inbox in a file counts the dead letters that it holds. An
    /// inbox in memory keeps none, and counts all there have been.
    public var dead: Int64
    /// Unhandled messages that the inbox removed: dead letters that no handler may see, removed for newer ones
    /// (``PushEvent/Notice/deadLettersRemoved``).
    public var expired: Int64
    /// Acknowledged messages that were lost unhandled: the inbox file was damaged, removed, or replaced by an older
    /// one. ``PushEvent/inboxMovedAside(path:reason:takenOver:lost:)`` reports each such file. Always 0 in memory.
    public var lost: Int64
    /// Messages that a person dropped before they were done.
    public var dropped: Int64

    package init(
        received: Int64 = 0, duplicates: Int64 = 0, waiting: Int64 = 0, running: Int64 = 0, presented: Int64 = 0,
        done: Int64 = 0, dead: Int64 = 0, expired: Int64 = 0, lost: Int64 = 0, dropped: Int64 = 0
    ) {
        (self.received, self.duplicates) = (received, duplicates)
        (self.waiting, self.running, self.presented) = (waiting, running, presented)
        (self.done, self.dead, self.expired, self.lost, self.dropped) = (done, dead, expired, lost, dropped)
    }

    /// ``received`` minus all other numbers: 0 unless a message was counted twice or not at all.
    package var unaccounted: Int64 {
        self.received - self.duplicates - self.waiting - self.running - self.presented - self.done - self.dead
            - self.expired - self.lost - self.dropped
    }

    package var isBalanced: Bool { self.unaccounted == 0 }
}

extension MessageLedger: CustomStringConvertible {
    /// One line with every number.
    public var description: String {
        "received \(self.received) = done \(self.done) + presented \(self.presented) + waiting \(self.waiting) "
            + "+ running \(self.running) + dead \(self.dead) + expired \(self.expired) "
            + "+ lost \(self.lost) + dropped \(self.dropped) + duplicates \(self.duplicates)"
            + (self.isBalanced ? "" : ", unaccounted \(self.unaccounted)")
    }
}
