extension Pipeline {
    /// Makes the pipeline of a runtime's messages, from their connections to their handlers and back. A simulation
    /// makes one on a loop and with workers of its own.
    ///
    /// - Parameters:
    ///   - inbox: the store of messages; `nil` keeps them in memory.
    ///   - wake: makes the loop take another turn. Any thread may call it.
    package convenience init(
        on loop: any Loop, inbox: (any Store)?, configuration: PushRuntime.Configuration,
        hubs: Locked<[Int64: EventHub]>, listeners: Locked<Int>, wake: @escaping @Sendable () -> Void,
        threads: DeliveryThreads
    ) {
        var configuration = configuration
        if inbox == nil { configuration.inbox = .memory }
        let store: any Store = inbox ?? MemoryStore(clocks: configuration.environment.clocks)
        var limits = inbox == nil ? BackPressure.Limits.memory : .file
        if let waitingBytes = configuration.bounds.waitingBytes { limits.pendingBytes = waitingBytes }
        self.init(
            store: store, on: loop, configuration: configuration.delivery, limits: limits,
            clock: configuration.environment.clocks.monotonic,
            observer: HubObserver(hubs: hubs, keeping: inbox == nil ? .memory : .file, listeners: listeners),
            wake: wake, threads: threads)
    }

    /// The ledger of a store in this process. It is empty for a shared store, which answers later
    /// (``Store/ledger(completion:)``).
    package var ledger: MessageLedger { (self.store as? any ImmediateStore)?.ledger ?? MessageLedger() }

    /// Makes an installation's link to its broker. The link knows the messages that the broker may repeat, also from
    /// earlier processes and from links whose messages are stored by now.
    ///
    /// - Parameter voidsEarlierRows: whether no message may count as a repetition of the stored rows. Another inbox may
    ///   have used the session since, and the broker may have begun a new one then.
    package func link(
        installation: Int64, configuration: MQTTSession.Configuration, voidsEarlierRows: Bool = false,
        verifiesCertificates: Bool, report: @escaping (PushEvent) -> Void,
        completion: @escaping StoreCompletion<BrokerLink>
    ) {
        // The answer lacks messages that an earlier link has received and the store has not written yet.
        self.connections[installation] = nil
        self.store.unproven(installation: installation) { answer in
            completion(
                answer.map { rows in
                    var unproven = rows
                    if voidsEarlierRows, let last = rows.last {
                        self.store.proven(installation: installation, through: last.sequence)
                        unproven = []
                    }
                    return BrokerLink(
                        installation: installation, configuration: configuration,
                        filter: RedeliveryFilter(restoring: unproven.map { ($0.sequence, $0.packetID) }),
                        // Above every number of an earlier process, as long as the calendar goes forward. If it does
                        // not, a redelivery may pass for a new message, which loses nothing.
                        connectionBase: self.loop.clocks.calendar.millisecondsSinceEpoch, pipeline: self,
                        verifiesCertificates: verifiesCertificates, report: report)
                })
        }
    }
}
