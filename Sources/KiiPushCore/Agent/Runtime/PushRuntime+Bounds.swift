extension PushRuntime {
    /// How much a runtime keeps, and where. What is beyond a bound stays on the disk or at the broker; only of messages that
    /// nobody can handle is the oldest dropped (``deadLetters``).
    ///
    /// On a disk with little room, an inbox file keeps less: an eighth of the room (what is free and what its files take)
    /// of handled messages, a quarter of messages that wait, an eighth of dead letters.
    public struct Bounds: Sendable, Hashable {
        /// How long a message that was handled is kept in the inbox file, so that a redelivery is recognised. More than
        /// zero. Default 24 h.
        public var handledKeptFor = Duration.seconds(24 * 3600)
        /// How many bytes of handled messages are kept in the inbox file at most; the oldest go first. Zero or more.
        /// Default 64 MiB.
        public var handledKeptBytes: Int64 = 64 << 20
        /// How many messages wait for a handler in memory; the others are read from the inbox file when there is room.
        /// 4 to 1,000,000, with an inbox in memory of no account. Default 1,000.
        package var messagesInMemory = 1000
        /// How many bytes of payload and topic these may have together. 1 MiB at least, with an inbox in memory of no
        /// account. Default 16 MiB.
        package var bytesInMemory = 16 << 20
        /// From how many bytes of messages that wait for a handler reading from the network stops, so that the broker keeps
        /// what follows. A message counts as its payload, its topic, and what is kept with them: 64 bytes in a file, 1 KiB
        /// in memory. More than zero. Default: 1 GiB in a file, 8 MiB in memory.
        public var waitingBytes: Int64?
        /// From how many dead letters in the inbox file reading from the network stops, until some of them are retried or
        /// dropped. Undecodable and oversized messages and those on an unexpected topic take half of it at most, so they
        /// never stop reading: the oldest of them make room for the newest. 2 or more. Default 100,000.
        ///
        /// With an inbox in memory, which keeps no dead letters, this and ``deadLetterBytes`` are of no account.
        public var deadLetters = 100_000
        /// From how many bytes of dead letters reading stops, likewise. When undecodable and oversized messages and those on
        /// an unexpected topic take half of it, only the first 8 KiB of each further one are kept, with its length and its
        /// SHA-256 digest. More than zero. Default 256 MiB; at most an eighth of the room on the disk.
        public var deadLetterBytes: Int64 = 256 << 20

        package init() {}
    }
}

extension PushRuntime.Configuration {
    /// The longest pause between two attempts that can be asked for.
    private static let longestRetryDelay: Duration = .seconds(7 * 24 * 3600)

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
        try require(self.bounds.bytesInMemory >= 1 << 20, "bounds.bytesInMemory", "has to be 1 MiB at least")
        try require(self.bounds.waitingBytes ?? 1 > 0, "bounds.waitingBytes", "has to be more than zero")
        try require(self.bounds.deadLetters >= 2, "bounds.deadLetters", "has to be 2 or more")
        try require(self.bounds.deadLetterBytes > 0, "bounds.deadLetterBytes", "has to be more than zero")
    }

    var trust: TLSConfiguration {
        var trust = TLSConfiguration(caFile: self.certificateAuthorityFile, insecure: !self.verifiesCertificates)
        trust.clientCertificateFile = self.clientCertificateFile
        trust.clientKeyFile = self.clientKeyFile
        return trust
    }

    func loopConfiguration(_ trust: TLSConfiguration) -> EventLoop.Configuration {
        var configuration = EventLoop.Configuration(
            tls: trust, proxy: self.proxy, connectTimeout: self.environment.connectTimeout,
            readClocks: self.environment.readClocks)
        configuration.userAgent = self.userAgent
        return configuration
    }

    package var delivery: DeliveryConfiguration {
        var delivery = self.inbox == .memory ? DeliveryConfiguration.memoryInbox : DeliveryConfiguration()
        delivery.concurrentHandlers = self.concurrentHandlers
        delivery.deadline = self.environment.handlerDeadline
        delivery.isStrictlyOrdered = self.isStrictlyOrdered
        if let delays = self.retryDelays { delivery.retryDelays = delays }
        // What is not on a disk is in memory anyway, so nothing is gained by keeping it from delivery.
        delivery.messagesInMemory = self.inbox == .memory ? 65_536 : self.bounds.messagesInMemory
        delivery.bytesInMemory = self.inbox == .memory ? nil : self.bounds.bytesInMemory
        return delivery
    }

    /// No retry is due later than this; one that seems to be was written before the clock was set back, or with other
    /// pauses.
    package var longestRetryDelay: Duration { (self.delivery.retryDelays.max() ?? .zero) + .seconds(3600) }

    package var inboxFile: KiiPushCore.Inbox.Configuration {
        var file = KiiPushCore.Inbox.Configuration()
        file.keepsDoneFor = self.bounds.handledKeptFor
        file.keepsDoneBytes = self.bounds.handledKeptBytes
        file.keepsDeadRows = Int64(self.bounds.deadLetters)
        file.keepsDeadBytes = self.bounds.deadLetterBytes
        if let interval = self.environment.sweepInterval { file.sweepInterval = interval }
        file.maximumFileBytes = self.environment.maximumInboxBytes
        file.flushesCommits = self.environment.flushesCommits
        file.clocks = self.environment.clocks
        return file
    }
}
