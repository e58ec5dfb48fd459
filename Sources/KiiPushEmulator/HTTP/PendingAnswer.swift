import CMicroHTTPD
import KiiPushCore

/// The answer to one request, given by any thread, now or while libmicrohttpd holds the connection.
///
/// The connection is used only under the lock. Suspending it, resuming it and queueing an answer on it only set state
/// in libmicrohttpd, so no callback runs under the lock.
final class PendingAnswer: Sendable {
    private struct State {
        let connection: OpaquePointer
        /// While `true`, libmicrohttpd neither uses nor frees the connection until a thread resumes it, once.
        var isSuspended = false
        var isGiven = false
        /// `nil` closes the connection without an answer.
        var answer: HTTPResponse?
        /// A stream to send instead of ``answer``, as long as the reader stays.
        var stream: EventStream?
    }

    private let state: Locked<State>

    init(on connection: sending OpaquePointer) { self.state = Locked(State(connection: connection)) }

    /// Gives the answer. Only the first call counts.
    func give(_ response: HTTPResponse?) {
        self.state.withLock { state in
            guard !state.isGiven else { return }
            (state.isGiven, state.answer) = (true, response)
            if state.isSuspended { MHD_resume_connection(state.connection) }
        }
    }

    /// Gives a stream instead of an answer. Only on the server's thread, within the handler.
    func give(_ stream: EventStream) { self.state.withLock { ($0.isGiven, $0.stream) = (true, stream) } }

    /// Holds the connection until ``resume()``; a held connection is not freed. Only on the server's thread, while
    /// libmicrohttpd asks for the content of an answer.
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

    /// Queues the answer, or suspends the connection until there is one. Only on the server's thread.
    func queueOrSuspend() -> MHD_Result {
        self.state.withLock { state in
            if let stream = state.stream.take() { return stream.queue(on: state.connection) }
            guard !state.isGiven else { return Exchange.queue(state.answer, on: state.connection) }
            // Under the lock, so that no answer can resume a connection before it is suspended.
            MHD_suspend_connection(state.connection)
            state.isSuspended = true
            return .YES
        }
    }
}
