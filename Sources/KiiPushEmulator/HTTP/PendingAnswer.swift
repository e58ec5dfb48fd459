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

    /// On the server's thread: queues the answer, or suspends the connection until libmicrohttpd has one to ask for.
    func queueOrSuspend() -> MHD_Result {
        self.state.withLock { state in
            guard !state.isGiven else { return Exchange.queue(state.answer, on: state.connection) }
            // Under the lock, so that no answer can resume what is not suspended yet.
            MHD_suspend_connection(state.connection)
            state.isSuspended = true
            return .YES
        }
    }
}
