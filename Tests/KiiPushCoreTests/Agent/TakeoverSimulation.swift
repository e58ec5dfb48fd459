import KiiPushCore
import SeededNumbers

/// One broker, and several receivers of one installation. Each new connection closes the previous receiver's
/// connection.
struct TakeoverSimulation {
    struct Receiver {
        /// The pause after a connection of this lifetime was closed.
        var pause: (Duration) -> Duration
        /// The time of the next connection; `nil` while the receiver is connected.
        var next: Duration? = .zero
        var leaves: Duration = .seconds(1_000_000)
    }

    final class Log {
        var recognised: [Duration] = []
        var pauses: [Duration] = []
    }

    var receivers: [Receiver] = []
    private(set) var now = Duration.zero
    private(set) var connections: [(at: Duration, receiver: Int)] = []
    private(set) var connected: (receiver: Int, since: Duration)?

    mutating func addAgent(seed: UInt64, startingAt start: Duration) -> Log {
        let log = Log()
        var random = SeededGenerator(seed: seed)
        var policy = ReconnectPolicy()
        var time = start
        self.receivers.append(
            Receiver(
                pause: { lifetime in
                    let decision = policy.connectionEnded(
                        .closedByPeer, connectedFor: lifetime, jitter: .random(in: 0..<1, using: &random))
                    time += lifetime
                    if decision.takeover != nil { log.recognised.append(time) }
                    log.pauses.append(decision.delay)
                    time += decision.delay
                    return decision.delay
                }, next: start))
        return log
    }

    /// Adds a client of another make, which always reconnects after the same pause.
    mutating func addClient(pause: Duration, startingAt start: Duration) {
        self.receivers.append(Receiver(pause: { _ in pause }, next: start))
    }

    mutating func run(until end: Duration) {
        while let (index, time) = self.nextArrival, time <= end {
            self.now = time
            if let (other, since) = self.connected {
                let back = time + self.receivers[other].pause(time - since)
                self.receivers[other].next = back < self.receivers[other].leaves ? back : nil
            }
            self.receivers[index].next = nil
            self.connected = (index, time)
            self.connections.append((time, index))
        }
        self.now = end
    }

    /// Ends a receiver for good, whether it is connected or not.
    mutating func stop(_ index: Int) {
        self.receivers[index].leaves = self.now
        self.receivers[index].next = nil
        if self.connected?.receiver == index { self.connected = nil }
    }

    var connectionsInTheLastHour: Int { self.connections.count { $0.at > self.now - .seconds(3600) } }

    private var nextArrival: (Int, Duration)? {
        self.receivers.enumerated().compactMap { index, receiver in receiver.next.map { (index, $0) } }
            .min { $0.1 < $1.1 }
    }
}
