import CMicroHTTPD
import KiiPushCore

/// The answer to one request, given by any thread, now or while libmicrohttpd holds the connection.
///
/// The connection is touched under the lock alone. Suspending it, resuming it and queueing an answer on it only take
/// note of what libmicrohttpd is to do, so nothing is called back from in there.
final class PendingAnswer: Sendable {
    private struct State {
        let connection: OpaquePointer
        /// While it is, libmicrohttpd neither uses nor frees the connection until it is resumed, once, by any thread.
        var isSuspended = false
        var isGiven = false
        /// `nil`: the connection is closed without an answer.
        var answer: HTTPResponse?
        /// What is sent in place of ``answer``, for as long as there is somebody to read it.
        var stream: EventStream?
    }

    private let state: Locked<State>

    /// For a request that came on `connection`.
    init(on connection: sending OpaquePointer) { self.state = Locked(State(connection: connection)) }

    /// Gives the answer; the first one counts.
    func give(_ response: HTTPResponse?) {
        self.state.withLock { state in
            guard !state.isGiven else { return }
            (state.isGiven, state.answer) = (true, response)
            if state.isSuspended { MHD_resume_connection(state.connection) }
        }
    }

    /// As ``give(_:)-(HTTPResponse?)``, on the server's thread within the handler.
    func give(_ stream: EventStream) { self.state.withLock { ($0.isGiven, $0.stream) = (true, stream) } }

    /// On the server's thread, while libmicrohttpd asks for the content of an answer: holds the connection until
    /// ``resume()``. A connection that is held is not freed.
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

    /// On the server's thread: queues the answer, or suspends the connection until libmicrohttpd has one to ask for.
    func queueOrSuspend() -> MHD_Result {
        self.state.withLock { state in
            if let stream = state.stream.take() { return stream.queue(on: state.connection) }
            guard !state.isGiven else { return Exchange.queue(state.answer, on: state.connection) }
            // Under the lock, so that no answer can resume what is not suspended yet.
            MHD_suspend_connection(state.connection)
            state.isSuspended = true
            return .YES
        }
    }
}
