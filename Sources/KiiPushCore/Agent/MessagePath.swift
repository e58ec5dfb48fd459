/// The way of a runtime's messages, from their connections to their handlers and back: the inbox, delivery, and the pipeline
/// between them.
///
/// ``PushRuntime`` makes one on its loop. A simulation makes one on a loop and with workers of its own.
package struct MessagePath {
    package let pipeline: ReceivePipeline
    package let runner: DeliveryRunner
    let mailbox: DeliveryMailbox

    /// Made on the loop's thread.
    ///
    /// - Parameters:
    ///   - loop: what the connections live on. It calls ``pipeline`` in every turn.
    ///   - inbox: the file that keeps messages; `nil` keeps them in memory.
    ///   - hubs: who hears of an installation's messages, by the store's key: of those that are received as.
    ///   - wake: makes the loop take another turn. Called on any thread.
    ///   - threads: who calls the handlers.
    package init(
        on loop: any Loop, inbox: OpenInbox?, configuration: PushRuntime.Configuration,
        hubs: Locked<[Int64: EventHub]>, wake: @escaping @Sendable () -> Void, threads: DeliveryThreads
    ) {
        var configuration = configuration
        if inbox == nil { configuration.inbox = .memory }
        self.mailbox = DeliveryMailbox(wake: wake)
        self.runner = DeliveryRunner(
            configuration: configuration.delivery,
            store: self.mailbox,
            observer: HubObserver(hubs: hubs, keeping: inbox == nil ? .memory : .file),
            threads: threads,
            clock: configuration.deliveryClock
        )
        let store: any MessageStore =
            inbox.map { FileMessageStore($0.file, in: $0.room, longestDelay: configuration.longestRetryDelay) }
            ?? MemoryMessageStore(clocks: loop.clocks)
        var limits = inbox == nil ? ReceivePipeline.Limits.memory : .file
        if let waitingBytes = configuration.bounds.waitingBytes { limits.pendingBytes = waitingBytes }
        self.pipeline = ReceivePipeline(
            store: store,
            loop: loop,
            mailbox: self.mailbox,
            limits: limits,
            delivery: self.runner,
            running: { hubs.withLock { Set($0.keys) } },
            report: { event in hubs.withLock { Array($0.values) }.forEach { $0.emit(event) } }
        )
    }
}

extension ReceivePipeline {
    /// The key of an installation, made if it is new.
    package func installation(id: String) throws(InboxError) -> Int64 { try self.store.installation(id: id, of: nil) }

    /// What has become of every message, as of the last commit.
    package var ledger: MessageLedger { self.store.ledger }

    /// The way of an installation to its broker. It knows what of earlier processes the broker may send again.
    package func link(
        installation: Int64, configuration: MQTTSession.Configuration, verifiesCertificates: Bool,
        report: @escaping (PushEvent) -> Void
    ) throws(InboxError) -> BrokerLink {
        let unproven = try self.store.unproven(installation: installation)
        return BrokerLink(
            installation: installation,
            configuration: configuration,
            filter: RedeliveryFilter(restoring: unproven.map { ($0.sequence, $0.packetID) }),
            // Above every number of an earlier process, as long as the calendar goes forward; if it does not, a
            // redelivery may be taken for a new message, which loses nothing.
            connectionBase: self.loop.clocks.calendar.millisecondsSinceEpoch,
            loop: self.loop,
            pipeline: self,
            verifiesCertificates: verifiesCertificates,
            report: report
        )
    }
}

/// An inbox file, and the room that it has.
package struct OpenInbox {
    let file: RecoverableInbox
    let room: InboxRoom

    /// Opens the file, or makes it.
    ///
    /// - Parameter freeBytes: what may still be written on its disk.
    /// - Throws: ``InboxError``.
    package init(
        path: String, configuration: Inbox.Configuration,
        freeBytes: @escaping (String) -> Int64? = InboxRoom.freeBytes(at:)
    ) throws(InboxError) {
        var room = InboxRoom(of: path, clocks: configuration.clocks, freeBytes: freeBytes)
        do throws(InboxError) {
            self.file = try RecoverableInbox(path: path, configuration: configuration)
        } catch {
            guard error.kind == .full else { throw error }
            // Opening takes a little room, which an earlier process may have left.
            room.giveUpReserve()
            self.file = try RecoverableInbox(path: path, configuration: configuration)
        }
        self.room = room
    }
}
