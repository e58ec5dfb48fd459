/// An agent's badge number, in memory and in a file. If a ``MessageFeed`` keeps the number, there is no file, and
/// ``set(_:)`` passes the number to the feed.
package final class AgentBadge: Sendable {
    private struct State {
        var count = BadgeCount()
        var isLoaded = false
        var isChanged = false
        var isWritePlanned = false
        var lastWrite: MonotonicInstant?
        var nextListener = 0
        var listeners: [Int: AsyncStream<Int?>.Continuation] = [:]
        var observers: [@Sendable () -> Void] = []
    }

    private static let writeInterval: Duration = .seconds(1)

    private let path: String
    private let loop: EventLoop
    private let feed: MessageFeed?
    private let hub: EventHub
    private let state = Locked(State())
    /// Held while the file is written, so that an older number never replaces a newer one.
    private let writing = Locked<Void>(())

    init(
        stateDirectory: String, name: String, loop: EventLoop, feed: MessageFeed?, hub: EventHub
    ) {
        self.path = "\(stateDirectory)/badges/\(name).json"
        self.loop = loop
        self.feed = feed.flatMap { $0.badge != nil ? $0 : nil }
        self.hub = hub
    }

    deinit {
        for listener in self.state.withLock({ Array($0.listeners.values) }) { listener.finish() }
        self.write()
    }

    package var number: Int? {
        self.load()
        return self.state.withLock { $0.count.number }
    }

    var numbers: AsyncStream<Int?> {
        self.load()
        let (stream, continuation) = AsyncStream.makeStream(of: Int?.self, bufferingPolicy: .bufferingNewest(64))
        let number = self.state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            continuation.yield(state.count.number)
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    func apply(_ badge: NotificationContent.Badge, _ context: DeliveryContext) {
        // The feed's process counts the messages, so this agent does not.
        guard self.feed == nil else { return }
        self.change { $0.apply(badge, messageID: context.messageID, receivedAt: context.receivedAt, now: .now()) }
    }

    package func set(_ number: Int?) {
        self.change { $0.set(number) }
        // Sent even if the number is the same here: the feed may already have another number.
        self.feed?.setBadge(max(number ?? 0, 0))
    }

    package func told(_ number: Int) {
        if self.feed != nil { self.change { $0.set(number) } }
    }

    /// Calls `body` after each change, on the thread of the change. `body` must not block.
    package func onChange(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.observers.append(body) } }

    /// Writes on the loop's thread, since writing blocks; on the caller's thread if the loop has ended.
    func saveIfNeeded() async {
        do { try await self.loop.run { self.write() } } catch { self.write() }
    }

    private func change(_ body: (inout BadgeCount) -> Void) {
        self.load()
        let (observers, isToBePlanned) = self.state.withLock { [hasFile = self.feed == nil] state in
            let before = state.count
            body(&state.count)
            guard state.count != before else { return ([@Sendable () -> Void](), false) }
            let isOther = state.count.number != before.number
            // Yields under the lock, so that every listener gets the changes in order.
            if isOther { for listener in state.listeners.values { listener.yield(state.count.number) } }
            state.isChanged = hasFile
            defer { state.isWritePlanned = hasFile }
            return (isOther ? state.observers : [], hasFile && !state.isWritePlanned)
        }
        for observer in observers { observer() }
        guard isToBePlanned else { return }
        // The closures own `fuse`, and releasing it writes the file: after the timer, or when the loop ends.
        let fuse = Fuse { [weak self] in self?.write() }
        self.loop.submit { [weak self, loop = self.loop] in
            guard let self else { return }
            let due = self.state.withLock { $0.lastWrite }.map { $0 + AgentBadge.writeInterval } ?? loop.now
            loop.schedule(at: max(due, loop.now)) { withExtendedLifetime(fuse) {} }
        }
    }

    // MARK: - The file

    private func load() {
        guard !self.state.withLock({ $0.isLoaded }) else { return }
        let count = self.feed?.badge.map { BadgeCount(number: $0 > 0 ? $0 : nil) } ?? self.countOnFile
        self.state.withLock { state in
            guard !state.isLoaded else { return }
            state.isLoaded = true
            state.count = count
        }
    }

    private var countOnFile: BadgeCount {
        let json = (try? PrivateFile.read(self.path)).flatMap { try? JSONValue(parsing: $0) }
        return BadgeCount(
            number: json?["badge"]?.int64.flatMap { $0 > 0 ? Int(exactly: $0) : nil },
            receivedAt: json?["receivedAt"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) },
            messageID: json?["messageID"]?.int64)
    }

    /// Runs on any thread, also after the loop has ended.
    private func write() {
        do throws(FileError) {
            let isWritten = try self.writing.withLock { _ throws(FileError) in try self.writeAlone() }
            if isWritten { self.hub.emit(saving: self.path, nil) }
        } catch {
            self.hub.emit(saving: self.path, error)
        }
    }

    private func writeAlone() throws(FileError) -> Bool {
        let count = self.state.withLock { state -> BadgeCount? in
            state.isWritePlanned = false
            guard state.isChanged else { return nil }
            state.isChanged = false
            state.lastWrite = .now()
            return state.count
        }
        guard let count else { return false }
        let json = JSONValue.object(present: [
            "version": 1, "badge": count.number, "receivedAt": count.receivedAt?.millisecondsSinceEpoch,
            "messageID": count.messageID,
        ])
        do throws(FileError) {
            try PrivateFile.makeDirectory(Directory.parent(of: self.path))
            try PrivateFile.replace(self.path, with: json.serialized(.lines))
            return true
        } catch {
            self.state.withLock { $0.isChanged = true }
            throw error
        }
    }
}

/// A handler that passes messages to another process, and the badge with them.
package protocol BadgeFollower {
    func follow(_ badge: AgentBadge)
}
