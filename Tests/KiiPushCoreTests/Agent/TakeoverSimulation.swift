import KiiPushCore
import SeededNumbers

/// One broker and several receivers on one installation: whoever connects knocks the one off that is connected.
struct TakeoverSimulation {
    /// A receiver that comes back after a time of its own.
    struct Receiver {
        /// How long it waits after its connection, of this lifetime, was closed.
        var pause: (Duration) -> Duration
        /// When it connects next; `nil` while it is connected.
        var next: Duration? = .zero
        /// After this it never comes again.
        var leaves: Duration = .seconds(1_000_000)
    }

    /// What a receiver of this project's own has said.
    final class Log {
        /// When another receiver was recognised.
        var recognised: [Duration] = []
        var pauses: [Duration] = []
    }

    var receivers: [Receiver] = []
    private(set) var now = Duration.zero
    /// Who connected when.
    private(set) var connections: [(at: Duration, receiver: Int)] = []
    private(set) var connected: (receiver: Int, since: Duration)?

    /// Adds an agent with the policy as it is.
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

    /// Adds a client of another make, which comes back after the same time always.
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

    /// Lets the one that is connected now leave for good, or come back no more.
    mutating func stop(_ index: Int) {
        self.receivers[index].leaves = self.now
        self.receivers[index].next = nil
        if self.connected?.receiver == index { self.connected = nil }
    }

    /// How many connections were made in the last hour.
    var connectionsInTheLastHour: Int { self.connections.count { $0.at > self.now - .seconds(3600) } }

    private var nextArrival: (Int, Duration)? {
        self.receivers.enumerated().compactMap { index, receiver in receiver.next.map { (index, $0) } }
            .min { $0.1 < $1.1 }
    }
}
