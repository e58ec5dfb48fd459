import CMicroHTTPD
import KiiPushCore

/// The answer to one request, given by any thread, now or while libmicrohttpd holds the connection.
final class PendingAnswer: Sendable {
    private enum Progress: Sendable {
        case awaited
        case suspended(SuspendedConnection)
        /// `nil`: the connection is closed without an answer.
        case given(HTTPResponse?)
    }

    private struct SuspendedConnection: @unchecked Sendable {
        // Proof for @unchecked Sendable: the pointer is made when libmicrohttpd has suspended the connection, after which
        // it neither uses nor frees it until the one call of MHD_resume_connection, which may come from any thread.
        let raw: OpaquePointer
    }

    private let progress = Locked(Progress.awaited)

    /// What is to be done with the connection.
    enum Outcome {
        case answer(HTTPResponse?)
        /// Nothing: it is suspended, and libmicrohttpd comes back to it once the answer is there.
        case wait
    }

    /// Gives the answer; the first one counts.
    func give(_ response: HTTPResponse?) {
        let suspended: SuspendedConnection? = self.progress.withLock { progress in
            switch progress {
            case .awaited:
                progress = .given(response)
                return nil
            case .suspended(let connection):
                progress = .given(response)
                return connection
            case .given:
                return nil
            }
        }
        if let suspended { MHD_resume_connection(suspended.raw) }
    }

    /// Takes the answer, or suspends `connection` until there is one. On the server's thread.
    func take(orSuspend connection: OpaquePointer) -> Outcome {
        let connection = SuspendedConnection(raw: connection)
        return self.progress.withLock { progress in
            if case .given(let response) = progress { return .answer(response) }
            // Under the lock, so that no answer can resume what is not suspended yet.
            MHD_suspend_connection(connection.raw)
            progress = .suspended(connection)
            return .wait
        }
    }
}
