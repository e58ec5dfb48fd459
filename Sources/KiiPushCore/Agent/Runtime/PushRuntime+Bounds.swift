extension PushRuntime {
    /// The limits of a runtime's storage. Messages beyond a limit stay on the disk or at the broker. The inbox drops
    /// only messages that nobody can handle, the oldest first (``deadLetters``).
    ///
    /// On a disk with little room, an inbox file keeps less. It takes an eighth of the room (the free space and its own
    /// files) for handled messages, a quarter for waiting messages, and an eighth for dead letters.
    public struct Bounds: Sendable, Hashable {
        /// The time that a handled message stays in the inbox file, so that the inbox recognises a redelivery. More
        /// than zero. Default 24 h.
        public var handledKeptFor = Duration.seconds(24 * 3600)
        /// The most bytes of handled messages in the inbox file; the oldest go first. Zero or more. Default 64 MiB.
        public var handledKeptBytes: Int64 = 64 << 20
        /// The most messages that wait for a handler in memory. The scheduler reads the others from the inbox file when
        /// there is room. 4 to 1,000,000; no effect with an inbox in memory. Default 1,000.
        package var messagesInMemory = 1000
        /// The most bytes of payload and topic of these messages together. 1 MiB at least; no effect with an inbox in
        /// memory. Default 16 MiB.
        package var bytesInMemory = 16 << 20
        /// The bytes of messages waiting for a handler above which reading from the network stops, so that the broker
        /// keeps further messages. A message counts as its payload, its topic, and its record: 64 bytes in a file, 1
        /// KiB in memory. More than zero. Default: 1 GiB in a file, 8 MiB in memory.
        public var waitingBytes: Int64?
        /// The number of dead letters in the inbox file at which reading from the network stops, until somebody retries
        /// or drops some. Undecodable and oversized messages, and messages on an unexpected topic, take half of it at
        /// most. They never stop reading: the oldest of them make room for the newest. 2 or more. Default 100,000.
        ///
        /// An inbox in memory keeps no dead letters, so this and ``deadLetterBytes`` have no effect.
        public var deadLetters = 100_000
        /// The bytes of dead letters at which reading stops, in the same way. Undecodable and oversized messages, and
        /// messages on an unexpected topic, may take half of it. Then the inbox keeps only the first 8 KiB of each
        /// further one, with its length and its SHA-256 digest. More than zero. Default 256 MiB; at most an eighth of
        /// the room on the disk.
        public var deadLetterBytes: Int64 = 256 << 20

        package init() {}
    }
}

extension PushRuntime.Configuration {
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
        // Messages that are not on a disk are in memory anyway, so withholding them from delivery would gain nothing.
        delivery.messagesInMemory = self.inbox == .memory ? 65_536 : self.bounds.messagesInMemory
        delivery.bytesInMemory = self.inbox == .memory ? nil : self.bounds.bytesInMemory
        return delivery
    }

    /// The longest time until a retry is due. A retry that seems to be due later was written before the clock was set
    /// back, or with other pauses.
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
