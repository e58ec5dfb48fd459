extension PushRuntime {
    /// How much a runtime keeps, and where. What is beyond a bound is never lost: it stays on the disk, or at the broker.
    public struct Bounds: Sendable, Hashable {
        /// How long a message that was handled is kept in the inbox file, so that a redelivery is recognised. More than
        /// zero. Default 24 h.
        public var handledKeptFor: Duration
        /// How many bytes of handled messages are kept in the inbox file at most; the oldest go first. Zero or more.
        /// Default 64 MiB.
        public var handledKeptBytes: Int64
        /// How many messages wait for a handler in memory; the others are read from the inbox file when there is room.
        /// 4 to 1,000,000, with an inbox in memory of no account. Default 1,000.
        public var messagesInMemory: Int
        /// From how many bytes of messages that wait for a handler reading from the network stops, so that the broker keeps
        /// what follows. More than zero. Default: 1 GiB in a file, 8 MiB in memory.
        public var waitingBytes: Int64?

        /// The defaults.
        public init() {
            self.handledKeptFor = .seconds(24 * 3600)
            self.handledKeptBytes = 64 << 20
            self.messagesInMemory = 1000
            self.waitingBytes = nil
        }
    }
}

extension PushRuntime.Configuration {
    /// The longest pause between two attempts that can be asked for.
    private static let longestRetryDelay: Duration = .seconds(7 * 24 * 3600)

    /// Refuses what cannot be meant.
    ///
    /// - Throws: ``PushAgentError/invalidConfiguration(setting:reason:)``.
    func validate() throws(PushAgentError) {
        func require(_ isValid: Bool, _ setting: String, _ reason: String) throws(PushAgentError) {
            guard isValid else { throw .invalidConfiguration(setting: setting, reason: reason) }
        }
        let delays = self.retryDelays ?? []
        try require((1...10_000).contains(self.concurrentHandlers), "concurrentHandlers", "has to be 1 to 10,000")
        try require(delays.count <= 100, "retryDelays", "holds more than 100 pauses")
        try require(
            delays.allSatisfy { $0 >= .zero && $0 <= Self.longestRetryDelay }, "retryDelays",
            "holds a pause that is negative or longer than 7 days")
        try require(self.callTimeout > .zero, "callTimeout", "has to be more than zero")
        try require(self.shutdownGrace >= .zero, "shutdownGrace", "must not be negative")
        try require(self.bounds.handledKeptFor > .zero, "bounds.handledKeptFor", "has to be more than zero")
        try require(self.bounds.handledKeptBytes >= 0, "bounds.handledKeptBytes", "must not be negative")
        try require(
            (4...1_000_000).contains(self.bounds.messagesInMemory), "bounds.messagesInMemory",
            "has to be 4 to 1,000,000")
        try require(self.bounds.waitingBytes ?? 1 > 0, "bounds.waitingBytes", "has to be more than zero")
    }

    /// How messages are handed over.
    var delivery: DeliveryConfiguration {
        var delivery = self.inbox == .memory ? DeliveryConfiguration.memoryInbox : DeliveryConfiguration()
        delivery.concurrentHandlers = self.concurrentHandlers
        delivery.deadline = self.handlerDeadline
        delivery.isStrictlyOrdered = self.isStrictlyOrdered
        if let delays = self.retryDelays { delivery.retryDelays = delays }
        // What is not on a disk is in memory anyway, so nothing is gained by keeping it from delivery.
        delivery.messagesInMemory = self.inbox == .memory ? 65_536 : self.bounds.messagesInMemory
        return delivery
    }

    /// No retry is due later than this; one that seems to be was written before the clock was set back, or with other
    /// pauses.
    var longestRetryDelay: Duration { (self.delivery.retryDelays.max() ?? .zero) + .seconds(3600) }

    /// How the inbox file is kept.
    var inboxFile: KiiPushCore.Inbox.Configuration {
        var file = KiiPushCore.Inbox.Configuration()
        file.keepsDoneFor = self.bounds.handledKeptFor
        file.keepsDoneBytes = self.bounds.handledKeptBytes
        if let interval = self.sweepInterval { file.sweepInterval = interval }
        file.maximumFileBytes = self.maximumInboxBytes
        return file
    }
}
