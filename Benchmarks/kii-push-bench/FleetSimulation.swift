import KiiPushCore
import SeededNumbers

/// A fleet that loses its broker at one moment: the times at which each client tries to connect, and at which the
/// broker accepts.
///
/// Each client has a fixed distance to the broker, 10 to 150 ms one way. It notices the loss after that time, waits as
/// its policy says, and tries to connect. During the outage an attempt fails after a round trip, and the client waits
/// again. Both policies are simulated with the same distances.
struct FleetSimulation {
    enum Policy {
        /// The delays of this project's agents, with the default numbers.
        case ours
        /// A fixed delay, as most clients have.
        case fixed(Duration)
    }

    struct Outcome {
        var arrivals: [Int] = []
        var accepted: [Int] = []
        /// The time from the broker's return until 95 % of the fleet had reconnected.
        var until95 = Duration.zero

        var peak: Int { self.arrivals.max() ?? 0 }
    }

    var clients = 100_000
    /// The time without a broker.
    var outage: Duration

    func run(_ policy: Policy) -> Outcome {
        var random = SeededGenerator(seed: 1)
        var outcome = Outcome()
        var returns: [Duration] = []
        for _ in 0..<self.clients {
            let distance = Duration.milliseconds(Int64.random(in: 10...150, using: &random))
            var waits = Waits(policy, seed: random.next())
            var time = distance + waits.first() + distance
            while time < self.outage {
                Self.count(time, in: &outcome.arrivals)
                time += distance + waits.next() + distance
            }
            Self.count(time, in: &outcome.arrivals)
            Self.count(time, in: &outcome.accepted)
            returns.append(time - self.outage)
        }
        returns.sort()
        outcome.until95 = returns[self.clients * 95 / 100]
        return outcome
    }

    private static func count(_ time: Duration, in seconds: inout [Int]) {
        let second = Int(time.components.seconds)
        if second >= seconds.count { seconds += Array(repeating: 0, count: second + 1 - seconds.count) }
        seconds[second] += 1
    }

    private struct Waits {
        private let policy: Policy
        private var reconnect = ReconnectPolicy()
        private var random: SeededGenerator

        init(_ policy: Policy, seed: UInt64) {
            self.policy = policy
            self.random = SeededGenerator(seed: seed)
        }

        /// The delay after the broker has closed a connection of one hour.
        mutating func first() -> Duration { self.delay(.closedByPeer, connectedFor: .seconds(3600)) }

        /// The delay after a failed attempt.
        mutating func next() -> Duration { self.delay(.attemptFailed, connectedFor: nil) }

        private mutating func delay(_ loss: ReconnectPolicy.Loss, connectedFor: Duration?) -> Duration {
            switch self.policy {
            case .fixed(let delay): return delay
            case .ours:
                let jitter = Double.random(in: 0..<1, using: &self.random)
                return self.reconnect.connectionEnded(loss, connectedFor: connectedFor, jitter: jitter).delay
            }
        }
    }
}
