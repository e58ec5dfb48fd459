import KiiPushCore

/// A fleet that loses its broker at one moment, simulated: how hard it comes back, and how soon.
enum FleetSection {
    private static let clients = 100_000
    /// How long the broker stays away.
    private static let outages: [Duration] = [.zero, .seconds(30), .seconds(300)]

    static func run(into table: inout Table) {
        for outage in self.outages {
            let seconds = Shown.decimals(outage / .seconds(1), 0)
            let (peak, until95) = self.simulate(outage: outage)
            // With a fixed delay the whole fleet comes in the same second, every time.
            let share = Double(peak) / Double(self.clients)
            table.add(
                "fleet of 100,000, broker away for \(seconds) s: peak connects",
                ours: "\(peak)/s",
                against: "fixed 10 s delay \(self.clients)/s",
                ratio: Shown.ratio(share),
                target: "<= 0.2x",
                reached: share <= 0.2
            )
            table.add(
                "  95 % of it back after",
                ours: "\(Shown.decimals(until95 / .seconds(1), 0)) s",
                target: "<= 180 s",
                reached: until95 <= .seconds(180)
            )
        }
    }

    /// Connection attempts in the busiest second, and the time from the broker's return until 95 % are back.
    private static func simulate(outage: Duration) -> (peak: Int, until95: Duration) {
        var random = SplitMix64(state: 1)
        var attempts: [Int: Int] = [:]
        var returns: [Duration] = []
        for _ in 0..<self.clients {
            var policy = ReconnectPolicy()
            var time = policy.connectionEnded(
                .closedByPeer, connectedFor: .seconds(3600), jitter: .random(in: 0..<1, using: &random)
            ).delay
            attempts[time.wholeSeconds, default: 0] += 1
            while time < outage {
                time +=
                    policy.connectionEnded(
                        .attemptFailed, connectedFor: nil, jitter: .random(in: 0..<1, using: &random)
                    ).delay
                attempts[time.wholeSeconds, default: 0] += 1
            }
            returns.append(time - outage)
        }
        returns.sort()
        return (attempts.values.max() ?? 0, returns[self.clients * 95 / 100])
    }
}

/// A small generator with a fixed seed, so that a simulation gives the same numbers everywhere (Steele, Lea and Flood,
/// "Fast Splittable Pseudorandom Number Generators", 2014).
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int { Int(self.components.seconds) }
}
