/// Reports a service's state to systemd (sd_notify(3)). Without systemd, no call has an effect.
package final class ServiceNotifier: Sendable {
    private enum Phase: Sendable {
        case starting
        case ready
        case reloading
        case stopping
    }

    /// The time limit of a connection attempt, without the pause before it.
    private static let attemptTime = Duration.seconds(60)

    private let socket: DatagramSocket?
    private let phase = Locked(Phase.starting)

    package init(path: String?) {
        self.socket = path.flatMap { DatagramSocket(path: $0, patience: .milliseconds(100)) }
    }

    /// During the start, only this call sends `READY=1`.
    package func connected(_ text: String) { self.send([Self.status(text)] + self.becomeReady(fromStart: true)) }

    /// Reports that there is no connection. During the start, also extends systemd's timeout until after the next
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

    package func reloadFailed(_ text: String) {
        self.send([Self.status(text)] + self.becomeReady(fromStart: false))
    }

    package func stopping() {
        self.phase.withLock { $0 = .stopping }
        self.send(["STOPPING=1", "STATUS=Stopping."])
    }

    package func feedWatchdog() { self.send(["WATCHDOG=1"]) }

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

    /// Replaces newlines, because a newline would begin another message to systemd.
    private static func status(_ text: String) -> String {
        "STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private func send(_ lines: [String]) { self.socket?.send(Array(lines.joined(separator: "\n").utf8)) }
}
