/// Hands an agent's events to everyone who listens.
///
/// Each listener has a buffer of its own that keeps the newest events; nobody who is slow or gone holds anything up.
final class EventHub: Sendable {
    private struct State {
        var nextID = 0
        var listeners: [Int: AsyncStream<PushEvent>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// How many events a listener may fall behind before the oldest are dropped.
    static let bufferedEvents = 4096

    /// A new listener's stream. It ends when the hub does.
    func stream() -> AsyncStream<PushEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PushEvent.self, bufferingPolicy: .bufferingNewest(EventHub.bufferedEvents))
        let id = self.state.withLock { state in
            state.nextID += 1
            state.listeners[state.nextID] = continuation
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Whether anybody listens, so that events need not be made for nobody.
    var hasListeners: Bool { self.state.withLock { !$0.listeners.isEmpty } }

    func emit(_ event: PushEvent) {
        let listeners = self.state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(event) }
    }

    deinit {
        for listener in self.state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }
}
