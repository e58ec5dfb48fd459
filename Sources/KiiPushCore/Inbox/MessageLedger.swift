/// The number of messages that an inbox has received, by what has become of them.
///
/// With the inbox in a file, the numbers go back to its first message and survive the process: the transactions that
/// change them write them. With the inbox in memory they begin with the runtime.
public struct MessageLedger: Sendable, Hashable {
    /// Messages that arrived, counting every arrival.
    public var received: Int64
    /// The part of ``received`` that the inbox recognised as repetitions of messages that were there already.
    public var duplicates: Int64
    /// Messages that wait for a handler, including messages that wait for another attempt.
    public var waiting: Int64
    /// Messages that delivery is handling, without a verdict yet.
    public var running: Int64
    /// Messages shown to the user, who has not reacted.
    public var presented: Int64
    /// Messages whose handler answered with a success, or for which there was nobody to call. They still count after
    /// their rows are removed.
    public var done: Int64
    /// Messages that delivery gave up on. With a file, the dead letters that it holds. In memory, which keeps none, all
    /// there have been.
    public var dead: Int64
    /// Messages that were removed unhandled, and that nobody dropped: dead letters that nobody can handle and that made
    /// room for newer ones (``PushEvent/Notice/deadLettersRemoved``).
    public var expired: Int64
    /// Acknowledged messages that are gone unhandled: a damaged inbox file no longer held them, or the file was removed
    /// or replaced by an older one. ``PushEvent/inboxMovedAside(path:reason:takenOver:lost:)`` reports each such file.
    /// Always 0 in memory.
    public var lost: Int64
    /// Messages that a person dropped before they were done.
    public var dropped: Int64

    /// Makes a ledger. The default is the ledger of an inbox that has not received anything.
    package init(
        received: Int64 = 0, duplicates: Int64 = 0, waiting: Int64 = 0, running: Int64 = 0, presented: Int64 = 0,
        done: Int64 = 0, dead: Int64 = 0, expired: Int64 = 0, lost: Int64 = 0, dropped: Int64 = 0
    ) {
        (self.received, self.duplicates) = (received, duplicates)
        (self.waiting, self.running, self.presented) = (waiting, running, presented)
        (self.done, self.dead, self.expired, self.lost, self.dropped) = (done, dead, expired, lost, dropped)
    }

    /// Received messages less all others; 0 unless a message was lost or counted twice.
    package var unaccounted: Int64 {
        self.received - self.duplicates - self.waiting - self.running - self.presented - self.done - self.dead
            - self.expired - self.lost - self.dropped
    }

    /// Whether every message that was received is accounted for once.
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
