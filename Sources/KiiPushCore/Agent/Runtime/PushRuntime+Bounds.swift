extension PushRuntime {
    /// The limits of a runtime's storage. Messages beyond a limit stay on the disk or at the broker. The inbox drops no
    /// unhandled message, except messages that nobody can handle, the oldest first (``deadLetters``).
    ///
    /// On a small disk, an inbox file uses at most an eighth of the room (the free space and its own files) for handled
    /// messages, a quarter for waiting messages, and an eighth for dead letters.
    public struct Bounds: Sendable, Hashable {
        /// The time that a handled message stays in the inbox file, so that the inbox recognises a redelivery. More
        /// than zero. Default 24 h.
        public var handledKeptFor = Duration.seconds(24 * 3600)
        /// The most bytes of handled messages in the inbox file; the oldest are removed. Zero or more. Default 64 MiB.
        public var handledKeptBytes: Int64 = 64 << 20
        /// The most waiting messages in memory; the others stay in the inbox file. 4 to 1,000,000. No effect with an
        /// inbox in memory.
        package var messagesInMemory = 1000
        /// The most bytes of payload and topic of waiting messages in memory. 1 MiB at least. No effect with an inbox
        /// in memory.
        package var bytesInMemory = 16 << 20
        /// The bytes of waiting messages above which reading from the network stops, so that the broker keeps further
        /// messages. A message counts as its payload, its topic, and 64 bytes in a file or 1 KiB in memory. More than
        /// zero. Default: 1 GiB in a file, 8 MiB in memory.
        public var waitingBytes: Int64?
        /// The number of dead letters in the inbox file at which reading from the network stops, until a person retries
        /// or drops some. 2 or more. Default 100,000. An inbox in memory keeps no dead letters.
        ///
        /// Undecodable and oversized messages, and messages on an unexpected topic, take at most half of the number.
        /// They never stop reading: the newest replace the oldest.
        public var deadLetters = 100_000
        /// The bytes of dead letters at which reading stops. More than zero. Default 256 MiB; at most an eighth of the
        /// room on the disk.
        ///
        /// Undecodable and oversized messages, and messages on an unexpected topic, may take half of the bytes. Beyond
        /// half, the inbox keeps only the first 8 KiB of each, its length, and its SHA-256 digest.
        public var deadLetterBytes: Int64 = 256 << 20

        package init() {}

        package var deadLetterTally: InboxCounts.Tally {
            InboxCounts.Tally(rows: Int64(self.deadLetters), bytes: self.deadLetterBytes)
        }
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
        // Without a file, all messages are in memory anyway, so a lower limit saves nothing.
        delivery.messagesInMemory = self.inbox == .memory ? 65_536 : self.bounds.messagesInMemory
        delivery.bytesInMemory = self.inbox == .memory ? nil : self.bounds.bytesInMemory
        return delivery
    }

    /// A retry that is due later than this was stored before the clock was set back, or with longer retry delays.
    package var longestRetryDelay: Duration { (self.delivery.retryDelays.max() ?? .zero) + .seconds(3600) }

    package var inboxFile: KiiPushCore.Inbox.Configuration {
        var file = KiiPushCore.Inbox.Configuration()
        file.keepsDoneFor = self.bounds.handledKeptFor
        file.keepsDoneBytes = self.bounds.handledKeptBytes
        file.keepsDead = self.bounds.deadLetterTally
        if let interval = self.environment.sweepInterval { file.sweepInterval = interval }
        file.maximumFileBytes = self.environment.maximumInboxBytes
        file.flushesCommits = self.environment.flushesCommits
        file.clocks = self.environment.clocks
        return file
    }
}
