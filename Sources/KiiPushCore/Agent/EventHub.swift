/// Hands an agent's events to everyone who listens.
///
/// Each listener has a buffer of its own that keeps the newest events; nobody who is slow or gone holds anything up.
/// An observer hears of each event before the next thing happens, and holds up who tells it.
package final class EventHub: Sendable {
    private struct State {
        var nextID = 0
        // Arrays, which are handed out without a copy.
        var listeners: [(id: Int, continuation: AsyncStream<PushEvent>.Continuation)] = []
        var observers: [Listener] = []
        var listener: Listener?
        var connectionEvent: PushEvent?
        /// The reason of each trouble that goes on.
        var troubles: [PushEvent.Trouble: String] = [:]
        /// The agent's files that cannot be written.
        var unsaved: Set<String> = []
    }

    /// Called on the thread where the event came about; returns at once.
    package typealias Listener = @Sendable (PushEvent) -> Void

    private let state = Locked(State())
    /// How many listen to the hubs of a runtime together.
    private let listeners: Locked<Int>

    /// `listeners` counts who listens to this hub and others.
    package init(counting listeners: Locked<Int> = Locked(0)) { self.listeners = listeners }

    /// How many events a listener may fall behind before the oldest are dropped.
    static let bufferedEvents = 4096

    /// A new listener's stream. It ends when the hub does.
    func stream() -> AsyncStream<PushEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PushEvent.self, bufferingPolicy: .bufferingNewest(EventHub.bufferedEvents))
        let id = self.state.withLock { state in
            state.nextID += 1
            state.listeners.append((state.nextID, continuation))
            return state.nextID
        }
        self.listeners.withLock { $0 += 1 }
        continuation.onTermination = { [weak self, listeners] _ in
            self?.state.withLock { state in state.listeners.removeAll { $0.id == id } }
            listeners.withLock { $0 -= 1 }
        }
        return stream
    }

    /// Whether anybody listens, so that events need not be made for nobody.
    var hasListeners: Bool {
        self.state.withLock { !$0.listeners.isEmpty || !$0.observers.isEmpty || $0.listener != nil }
    }

    /// Has every event told from now on, as long as the hub lives.
    package func observe(_ observer: @escaping Listener) {
        self.state.withLock { $0.observers.append(observer) }
        self.listeners.withLock { $0 += 1 }
    }

    /// Who hears of every event beside the streams' readers: the control server, while somebody asks it.
    var listener: Listener? {
        get { self.state.withLock { $0.listener } }
        set {
            let change = self.state.withLock { state in
                defer { state.listener = newValue }
                return (newValue == nil ? 0 : 1) - (state.listener == nil ? 0 : 1)
            }
            self.listeners.withLock { $0 += change }
        }
    }

    /// The last event that said how the connection stands.
    var connectionEvent: PushEvent? { self.state.withLock { $0.connectionEvent } }

    /// Why the agent cannot do this work; `nil` when it can.
    func reason(of trouble: PushEvent.Trouble) -> String? { self.state.withLock { $0.troubles[trouble] } }

    /// Tells why one of the agent's files cannot be written, or with `nil` that it is. The trouble ends with the last such
    /// file.
    func emit(saving path: String, _ failure: FileError?) {
        let isOver = self.state.withLock { state in
            if failure == nil { state.unsaved.remove(path) } else { state.unsaved.insert(path) }
            return state.unsaved.isEmpty
        }
        if isOver || failure != nil { self.emit(.change(of: .saving, failure?.description)) }
    }

    /// - Parameter told: what the listener is told in its place. Default: the same.
    func emit(_ event: PushEvent, toListener told: @autoclosure () -> PushEvent? = nil) {
        let (observers, listeners, listener) = self.state.withLock { state in
            switch event {
            case .connecting, .connected, .disconnected, .stopping: state.connectionEvent = event
            case .trouble(let kind, let reason): state.troubles[kind] = reason
            case .recovered(let kind): state.troubles[kind] = nil
            default: break
            }
            return (state.observers, state.listeners, state.listener)
        }
        for observe in observers { observe(event) }
        for listener in listeners { listener.continuation.yield(event) }
        listener?(told() ?? event)
    }

    deinit {
        let state = self.state.withLock { $0 }
        for listener in state.listeners { listener.continuation.finish() }
        self.listeners.withLock { $0 -= state.observers.count + (state.listener == nil ? 0 : 1) }
    }
}
