import KiiPushCore
import SeededNumbers

/// A fleet that loses its broker at one moment: when each client comes to the broker's door, and when it is let in.
///
/// Every client is as far from the broker as it is, 10 to 150 ms one way. It notices the loss when word of it has come
/// that far, waits as its policy says, and knocks. While the broker is away, it hears so a round trip later, and waits
/// again. Whoever compares two policies compares them in this one world, with the same distances.
struct FleetSimulation {
    /// How the clients wait.
    enum Policy {
        /// As this project's agents do, with the numbers that they have.
        case ours
        /// The same time always, which is what most clients do.
        case fixed(Duration)
    }

    /// What came of it, second by second since the loss.
    struct Outcome {
        /// Attempts that arrived at the broker.
        var arrivals: [Int] = []
        /// Those among them that it took.
        var accepted: [Int] = []
        /// From the broker's return until this share of the fleet was back.
        var until95 = Duration.zero

        var peak: Int { self.arrivals.max() ?? 0 }
    }

    var clients = 100_000
    /// How long the broker stays away.
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

    /// One client's pauses.
    private struct Waits {
        private let policy: Policy
        private var reconnect = ReconnectPolicy()
        private var random: SeededGenerator

        init(_ policy: Policy, seed: UInt64) {
            self.policy = policy
            self.random = SeededGenerator(seed: seed)
        }

        /// After a connection of an hour was closed by the broker.
        mutating func first() -> Duration { self.delay(.closedByPeer, connectedFor: .seconds(3600)) }

        /// After an attempt that came to nothing.
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
