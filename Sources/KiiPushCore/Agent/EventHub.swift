/// Hands an agent's events to everyone who listens.
///
/// Each listener has a buffer of its own that keeps the newest events; nobody who is slow or gone holds anything up.
final class EventHub: Sendable {
    private struct State {
        var nextID = 0
        var listeners: [Int: AsyncStream<PushEvent>.Continuation] = [:]
        var listener: Listener?
        var connectionEvent: PushEvent?
    }

    /// Called on the thread where the event came about; returns at once.
    typealias Listener = @Sendable (PushEvent) -> Void

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
    var hasListeners: Bool { self.state.withLock { !$0.listeners.isEmpty || $0.listener != nil } }

    /// Who hears of every event beside the streams' readers: the control server, while somebody asks it.
    var listener: Listener? {
        get { self.state.withLock { $0.listener } }
        set { self.state.withLock { $0.listener = newValue } }
    }

    /// The last event that said how the connection stands.
    var connectionEvent: PushEvent? { self.state.withLock { $0.connectionEvent } }

    func emit(_ event: PushEvent) {
        let (listeners, listener) = self.state.withLock { state in
            switch event {
            case .connecting, .connected, .disconnected, .stopping: state.connectionEvent = event
            default: break
            }
            return (Array(state.listeners.values), state.listener)
        }
        for listener in listeners { listener.yield(event) }
        listener?(event)
    }

    deinit {
        for listener in self.state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }
}
