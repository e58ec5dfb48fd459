import Glibc

/// Serves other processes of the same user, over the control socket: reports agents' events, and carries out requests
/// that need the inbox.
///
/// The server's own thread accepts clients and sends, also while the event loop is busy. No client delays an agent: a
/// client that reads too slowly misses events, and learns their number.
final class ControlServer: Sendable {
    typealias Perform = @Sendable (ControlRequest, @escaping @Sendable (ControlReply) -> Void) -> Void

    struct Client {
        var outbox: [UInt8] = []
        var isWatching = false
        var missed = 0

        /// - Parameter bare: the event's line without the message's payload, for an outbox more than half full.
        mutating func tell(_ line: [UInt8], bare: () -> [UInt8]? = { nil }) {
            let isTight = self.outbox.count + line.count > ControlServer.outboxLimit / 2
            let line = isTight ? bare() ?? line : line
            guard line.count <= ControlLines.maximumBytes, self.outbox.count + line.count <= ControlServer.outboxLimit
            else {
                self.missed += 1
                return
            }
            if self.missed > 0, let note = ControlReply.missed(self.missed).line {
                self.outbox += note
                self.missed = 0
            }
            self.outbox += line
        }
    }

    struct State {
        var clients: [Int: Client] = [:]
        var hubs: [ObjectIdentifier: EventHub] = [:]

        var isWatched: Bool { self.clients.values.contains { $0.isWatching } }

        /// Agents' threads wait for the lock of `state`. The outbox is changed in place, because a copy would take too
        /// long.
        mutating func tell(_ line: [UInt8], bare: () -> [UInt8]?) {
            for number in Array(self.clients.keys) where self.clients[number]?.isWatching == true {
                self.clients[number]?.tell(line, bare: bare)
            }
        }
    }

    /// In bytes of events. Replies to a client's requests come on top.
    private static let outboxLimit = 1 << 20

    let state = Locked(State())
    let perform: Perform
    let listener: FileDescriptor
    private let directory: String
    private let thread = PollThread<Void>(name: "kii-control")
    /// The announced agents, which share one link.
    private let announcements = Locked<[ObjectIdentifier: Fuse]>([:])

    /// The caller holds the directory's lock.
    init(directory: String, perform: @escaping Perform) throws(FileError) {
        let path = ControlSocket.path(in: directory)
        self.directory = directory
        self.perform = perform
        self.listener = try ControlSocket.listen(in: directory)
        do throws(SystemError) {
            try self.thread.start { [self] in ControlLoop(self) }
        } catch {
            throw .system(path: path, operation: "start a thread for", code: error.code)
        }
    }

    func stop() {
        guard self.thread.stop() else { return }
        unlink(ControlSocket.path(in: self.directory))
        self.announcements.withLock { $0 = [:] }
        self.thread.join()
    }

    // MARK: - Agents

    func attach(_ hub: EventHub, announcedIn folder: ReceiverFolder? = nil) {
        if let folder {
            self.announcements.withLock { announcements in
                announcements[ObjectIdentifier(hub)] =
                    announcements.values.first ?? folder.announce(self.directory)
            }
        }
        // The listener is set and removed under the lock, so that no listener outlives its hub's entry or the last
        // watcher.
        self.state.withLock { state in
            state.hubs[ObjectIdentifier(hub)] = hub
            if state.isWatched { self.listen(to: hub) }
        }
    }

    func detach(_ hub: EventHub) {
        self.state.withLock { state in
            state.hubs[ObjectIdentifier(hub)] = nil
            hub.listener = nil
        }
        self.announcements.withLock { $0[ObjectIdentifier(hub)] = nil }
    }

    private func listen(to hub: EventHub) {
        hub.listener = { [weak self, weak hub] event in
            guard let self, let hub, !self.isKnown(event, of: hub) else { return }
            self.tell(event)
        }
    }

    /// Whether another agent has already reported the same trouble, or still has the trouble that ends for this agent.
    /// A watcher sees the agents as one agent. The agents share a store, so each agent reports the store's troubles.
    /// `saving` concerns each agent's own files: its end is news when the last agent has written its files.
    private func isKnown(_ event: PushEvent, of hub: EventHub) -> Bool {
        func others() -> [EventHub] { self.state.withLock { $0.hubs.values.filter { $0 !== hub } } }
        return switch event {
        case .trouble(let kind, let reason): others().contains { $0.reason(of: kind) == reason }
        case .recovered(let kind): others().contains { $0.reason(of: kind) != nil }
        default: false
        }
    }

    private func tell(_ event: PushEvent) {
        let bare = event.withoutPayload.map { ControlReply.event($0) }
        let isTooLong = event.payloadLength > ControlLines.maximumBytes
        guard var line = isTooLong ? bare?.line : ControlReply.event(event).line else { return }
        if line.count > ControlLines.maximumBytes { line = bare?.line ?? line }
        self.state.withLock { $0.tell(line, bare: { bare?.line }) }
        self.thread.send(())
    }

    // MARK: - Clients

    func watch(_ number: Int) {
        let hubs = self.state.withLock { state in
            guard state.clients[number] != nil else { return [EventHub]() }
            state.clients[number]?.isWatching = true
            for hub in state.hubs.values { self.listen(to: hub) }
            return Array(state.hubs.values)
        }
        for hub in hubs {
            // The state may change between reading and sending. The `while` loop then sends the new state, too.
            var told: [UInt8]?
            while let line = hub.connectionEvent.flatMap({ ControlReply.event($0).line }), line != told {
                self.state.withLock { $0.clients[number]?.tell(line) }
                self.thread.send(())
                told = line
            }
        }
    }

    func forget(_ number: Int) {
        self.state.withLock { state in
            state.clients[number] = nil
            guard !state.isWatched else { return }
            for hub in state.hubs.values { hub.listener = nil }
        }
    }

    func reply(_ reply: ControlReply, to number: Int) {
        guard let line = reply.line else { return }
        self.state.withLock { state in state.clients[number]?.outbox += line }
        self.thread.send(())
    }
}
