import Glibc
import KiiPushCore

/// Tells a service manager how `run` is: the protocol of sd_notify(3), spoken without its library.
///
/// Without a manager every call does nothing.
final class ServiceNotifier: Sendable {
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

    init(path: String?) { self.socket = path.flatMap { DatagramSocket(path: $0, patience: .milliseconds(100)) } }

    /// A connection stands, and messages arrive: only this makes the service ready.
    func connected(_ text: String) { self.send(["STATUS=\(text)"] + self.becomeReady(fromStart: true)) }

    /// There is no connection. A start takes as long as it takes: the next attempt is still a part of it.
    func offline(_ text: String, retryIn: Duration?) {
        var lines = ["STATUS=\(text)"] + self.becomeReady(fromStart: false)
        if let retryIn, self.phase.withLock({ $0 == .starting }) {
            lines.append("EXTEND_TIMEOUT_USEC=\((retryIn + Self.attemptTime).milliseconds * 1000)")
        }
        self.send(lines)
    }

    func reloading() {
        let isTold = self.phase.withLock { phase in
            defer { if phase == .ready { phase = .reloading } }
            return phase == .ready
        }
        let microseconds = MonotonicInstant.now().nanoseconds / 1000
        self.send((isTold ? ["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"] : []) + ["STATUS=Reloading."])
    }

    /// Nothing was reloaded, and all goes on as before.
    func reloadFailed(_ text: String) {
        self.send(["STATUS=\(text)"] + self.becomeReady(fromStart: false))
    }

    func stopping() {
        self.phase.withLock { $0 = .stopping }
        self.send(["STOPPING=1", "STATUS=Stopping."])
    }

    func feedWatchdog() { self.send(["WATCHDOG=1"]) }

    /// Something about a service whose state is no other.
    func status(_ text: String) { self.send(["STATUS=\(text)"]) }

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

    private func send(_ lines: [String]) { self.socket?.send(Array(lines.joined(separator: "\n").utf8)) }
}
