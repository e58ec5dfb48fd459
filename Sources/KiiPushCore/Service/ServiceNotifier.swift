/// Tells a service manager how a service is: the protocol of sd_notify(3), spoken without its library.
///
/// Without a manager every call does nothing.
package final class ServiceNotifier: Sendable {
    private enum Phase: Sendable {
        case starting
        case ready
        case reloading
        case stopping
    }

    /// How much longer than the pause until the next attempt the start may take.
    private static let attemptTime = Duration.seconds(60)

    private let socket: DatagramSocket?
    private let phase = Locked(Phase.starting)

    package init(path: String?) {
        self.socket = path.flatMap { DatagramSocket(path: $0, patience: .milliseconds(100)) }
    }

    /// A connection stands, and messages arrive: only this makes the service ready.
    package func connected(_ text: String) { self.send([Self.status(text)] + self.becomeReady(fromStart: true)) }

    /// There is no connection. A start takes as long as it takes: the next attempt is still a part of it.
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

    /// Nothing was reloaded, and all goes on as before.
    package func reloadFailed(_ text: String) {
        self.send([Self.status(text)] + self.becomeReady(fromStart: false))
    }

    package func stopping() {
        self.phase.withLock { $0 = .stopping }
        self.send(["STOPPING=1", "STATUS=Stopping."])
    }

    package func feedWatchdog() { self.send(["WATCHDOG=1"]) }

    /// Something about a service whose state is no other.
    package func status(_ text: String) { self.send([Self.status(text)]) }

    /// - Returns: what is to be told with it.
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

    /// On one line, since a line end would begin another message to the manager.
    private static func status(_ text: String) -> String {
        "STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private func send(_ lines: [String]) { self.socket?.send(Array(lines.joined(separator: "\n").utf8)) }
}
