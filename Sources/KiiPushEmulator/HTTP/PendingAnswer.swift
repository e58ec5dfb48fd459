import CMicroHTTPD
import KiiPushCore

/// The answer to one request, given by any thread, now or while libmicrohttpd holds the connection.
///
/// The connection is touched under the lock alone. Suspending it, resuming it and queueing an answer on it only take
/// note of what libmicrohttpd is to do, so nothing is called back from in there.
final class PendingAnswer: Sendable {
    private struct State {
        let connection: OpaquePointer
        var progress = Progress.awaited
    }

    private enum Progress {
        case awaited
        /// libmicrohttpd neither uses nor frees the connection until it is resumed, once, which any thread may do.
        case suspended
        /// `nil`: the connection is closed without an answer.
        case given(HTTPResponse?)
    }

    private let state: Locked<State>

    /// For a request that came on `connection`.
    init(on connection: sending OpaquePointer) { self.state = Locked(State(connection: connection)) }

    /// Gives the answer; the first one counts.
    func give(_ response: HTTPResponse?) {
        self.state.withLock { state in
            if case .given = state.progress { return }
            let isSuspended = if case .suspended = state.progress { true } else { false }
            state.progress = .given(response)
            if isSuspended { MHD_resume_connection(state.connection) }
        }
    }

    /// Queues the answer, or suspends the connection until there is one, after which libmicrohttpd asks again. On the
    /// server's thread.
    func queueOrSuspend() -> MHD_Result {
        self.state.withLock { state in
            if case .given(let response) = state.progress { return Exchange.queue(response, on: state.connection) }
            // Under the lock, so that no answer can resume what is not suspended yet.
            MHD_suspend_connection(state.connection)
            state.progress = .suspended
            return .YES
        }
    }
}
