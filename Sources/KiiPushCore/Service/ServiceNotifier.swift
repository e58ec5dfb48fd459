/// Reports the state of a service to its manager by the protocol of sd_notify(3), without its library.
///
/// Without a manager every call does nothing.
package final class ServiceNotifier: Sendable {
    private enum Phase: Sendable {
        case starting
        case ready
        case reloading
        case stopping
    }

    /// The time for the next attempt itself, beside the pause before it.
    private static let attemptTime = Duration.seconds(60)

    private let socket: DatagramSocket?
    private let phase = Locked(Phase.starting)

    package init(path: String?) {
        self.socket = path.flatMap { DatagramSocket(path: $0, patience: .milliseconds(100)) }
    }

    /// Reports that a connection stands and messages arrive. Only this makes a starting service ready.
    package func connected(_ text: String) { self.send([Self.status(text)] + self.becomeReady(fromStart: true)) }

    /// Reports that there is no connection. During the start it also extends the manager's timeout to cover the next
    /// attempt.
    package func offline(_ text: String, retryIn: Duration?) {
        var lines = [Self.status(text)] + self.becomeReady(fromStart: false)
        if let retryIn, self.phase.withLock({ $0 == .starting }) {
            lines.append("EXTEND_TIMEOUT_USEC=\((retryIn + Self.attemptTime).milliseconds * 1000)")
        }
        self.send(lines)
    }

    package func reloading() {
        let isTold = self.phase.withLock { phase in
            defer { if phase == .ready { phase = .reloading } }
            return phase == .ready
        }
        let microseconds = MonotonicInstant.now().nanoseconds / 1000
        self.send((isTold ? ["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"] : []) + ["STATUS=Reloading."])
    }

    /// Reports that nothing was reloaded; the service goes on as before.
    package func reloadFailed(_ text: String) {
        self.send([Self.status(text)] + self.becomeReady(fromStart: false))
    }

    package func stopping() {
        self.phase.withLock { $0 = .stopping }
        self.send(["STOPPING=1", "STATUS=Stopping."])
    }

    package func feedWatchdog() { self.send(["WATCHDOG=1"]) }

    /// Reports a text; the service's state stays as it is.
    package func status(_ text: String) { self.send([Self.status(text)]) }

    private func becomeReady(fromStart: Bool) -> [String] {
        self.phase.withLock { phase in
            switch phase {
            case .starting where !fromStart, .ready, .stopping: return []
            case .starting, .reloading:
                phase = .ready
                return ["READY=1"]
            }
        }
    }

    /// One line, since a newline would begin another message to the manager.
    private static func status(_ text: String) -> String {
        "STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private func send(_ lines: [String]) { self.socket?.send(Array(lines.joined(separator: "\n").utf8)) }
}
