import CMicroHTTPD
import KiiPushCore

/// The answer to one request. The lock protects the connection. Under the lock, libmicrohttpd's functions (suspend,
/// resume, queue) only set state: they do not ask for content, which would need the lock again.
final class PendingAnswer: Sendable {
    private struct State {
        let connection: OpaquePointer
        /// While `true` and before the answer, libmicrohttpd neither uses nor frees the connection.
        var isSuspended = false
        var isGiven = false
        var answer: HTTPResponse?
        var stream: EventStream?
    }

    private let state: Locked<State>

    init(on connection: sending OpaquePointer) { self.state = Locked(State(connection: connection)) }

    /// Only the first call has an effect.
    func give(_ response: HTTPResponse?) {
        self.state.withLock { state in
            guard !state.isGiven else { return }
            (state.isGiven, state.answer) = (true, response)
            if state.isSuspended { MHD_resume_connection(state.connection) }
        }
    }

    /// Call this only on the server's thread, within the handler.
    func give(_ stream: EventStream) { self.state.withLock { ($0.isGiven, $0.stream) = (true, stream) } }

    /// Suspends the connection until ``resume()``. Call this only on the server's thread, while libmicrohttpd asks for
    /// content.
    func suspend() {
        self.state.withLock { state in
            MHD_suspend_connection(state.connection)
            state.isSuspended = true
        }
    }

    func resume() {
        self.state.withLock { state in
            guard state.isSuspended else { return }
            state.isSuspended = false
            MHD_resume_connection(state.connection)
        }
    }

    /// Call this only on the server's thread.
    func queueOrSuspend() -> MHD_Result {
        self.state.withLock { state in
            if let stream = state.stream.take() { return stream.queue(on: state.connection) }
            guard !state.isGiven else { return Exchange.queue(state.answer, on: state.connection) }
            // Under the lock, no thread can resume the connection before it is suspended.
            MHD_suspend_connection(state.connection)
            state.isSuspended = true
            return .YES
        }
    }
}
