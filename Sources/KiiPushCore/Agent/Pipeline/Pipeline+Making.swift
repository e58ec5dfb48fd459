extension Pipeline {
    /// - Parameter inbox: the store of messages; `nil` keeps them in memory.
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

    package var ledger: MessageLedger { self.store.ledger }

    /// The link recognises messages that the broker repeats, even if an earlier process received them.
    ///
    /// - Parameter voidsEarlierRows: whether no message counts as a repetition of a stored row, since another inbox may
    ///   have used the session.
    package func link(
        installation: Int64, configuration: MQTTSession.Configuration, voidsEarlierRows: Bool = false,
        verifiesCertificates: Bool, report: @escaping (PushEvent) -> Void,
        completion: @escaping StoreCompletion<BrokerLink>
    ) {
        // Marks an earlier connection as outdated, since the store's answer lacks that connection's unwritten messages.
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
                        // Larger than every number of an earlier process, unless the calendar was set back. Then a
                        // repetition may count as a new message, and none is lost.
                        connectionBase: self.loop.clocks.calendar.millisecondsSinceEpoch, pipeline: self,
                        verifiesCertificates: verifiesCertificates, report: report)
                })
        }
    }
}
