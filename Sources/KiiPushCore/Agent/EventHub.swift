/// Distributes an agent's events. A slow reader of a stream delays nobody. An observer delays the thread that reports
/// the event.
package final class EventHub: Sendable {
    private struct State {
        var nextID = 0
        // Arrays, since `emit` copies them under the lock, and a copy of an array copies no elements.
        var listeners: [(id: Int, continuation: AsyncStream<PushEvent>.Continuation)] = []
        var observers: [Listener] = []
        var listener: Listener?
        var connectionEvent: PushEvent?
        var troubles: [PushEvent.Trouble: String] = [:]
        var unsaved: Set<String> = []
    }

    package typealias Listener = @Sendable (PushEvent) -> Void

    private let state = Locked(State())
    private let listeners: Locked<Int>

    package init(counting listeners: Locked<Int> = Locked(0)) { self.listeners = listeners }

    static let bufferedEvents = 4096

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

    var hasListeners: Bool {
        self.state.withLock { !$0.listeners.isEmpty || !$0.observers.isEmpty || $0.listener != nil }
    }

    package func observe(_ observer: @escaping Listener) {
        self.state.withLock { $0.observers.append(observer) }
        self.listeners.withLock { $0 += 1 }
    }

    /// The control server's listener, while a client watches.
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

    var connectionEvent: PushEvent? { self.state.withLock { $0.connectionEvent } }

    func reason(of trouble: PushEvent.Trouble) -> String? { self.state.withLock { $0.troubles[trouble] } }

    /// Reports why a file cannot be written, or with `nil` that it was written. Further failures of the same file are not
    /// reported. The trouble ends when each file that failed has been written.
    func emit(saving path: String, _ failure: FileError?) {
        let isNews = self.state.withLock { state in
            guard failure == nil else { return state.unsaved.insert(path).inserted }
            return state.unsaved.remove(path) != nil && state.unsaved.isEmpty
        }
        if isNews { self.emit(.change(of: .saving, failure?.description)) }
    }

    /// - Parameter told: the event for ``listener``; `nil` means `event`.
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
