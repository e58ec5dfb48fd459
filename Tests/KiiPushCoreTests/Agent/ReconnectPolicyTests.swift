import KiiPushCore
import SeededNumbers
import Testing

@Suite struct ReconnectPolicyTests {
    private func delays(
        _ loss: ReconnectPolicy.Loss,
        connectedFor: Duration?,
        retryAfter: Duration? = nil,
        count: UInt64 = 500
    ) -> [Duration] {
        (0..<count).map { seed in
            var random = SeededGenerator(seed: seed)
            var policy = ReconnectPolicy()
            return policy.connectionEnded(
                loss, connectedFor: connectedFor, retryAfter: retryAfter, jitter: .random(in: 0..<1, using: &random)
            ).delay
        }
    }

    @Test func aLossSeenHereAloneIsRetriedWithin300Milliseconds() {
        let delays = self.delays(.noticedHere, connectedFor: .seconds(31))
        #expect(delays.allSatisfy { (.zero ... .milliseconds(300)).contains($0) })
        #expect((delays.max() ?? .zero) > .milliseconds(250))
    }

    @Test func aFleetThatLostItsBrokerIsSpreadOverTenSeconds() {
        let delays = self.delays(.closedByPeer, connectedFor: .seconds(31))
        #expect(delays.allSatisfy { (.zero ... .seconds(10)).contains($0) })
        #expect((delays.max() ?? .zero) > .seconds(9))
        #expect((delays.min() ?? .zero) < .seconds(1))
    }

    @Test func aFleetWhoseBrokerStaysAwayStaysSpread() {
        let delays = (0..<500).map { (seed: UInt64) -> Duration in
            var random = SeededGenerator(seed: seed)
            var policy = ReconnectPolicy()
            _ = policy.connectionEnded(
                .closedByPeer, connectedFor: .seconds(31), jitter: .random(in: 0..<1, using: &random))
            return policy.connectionEnded(.attemptFailed, connectedFor: nil, jitter: .random(in: 0..<1, using: &random))
                .delay
        }
        #expect(delays.allSatisfy { (.seconds(1) ... .seconds(30)).contains($0) })
        #expect((delays.max() ?? .zero) > .seconds(28))
    }

    @Test func aBrokerThatAcceptsAndKicksIsNotHammered() {
        var random = SeededGenerator(seed: 1)
        var policy = ReconnectPolicy()
        let delays = (0..<50).map { _ in
            policy.connectionEnded(
                .closedByPeer, connectedFor: .milliseconds(100), jitter: .random(in: 0..<1, using: &random)
            ).delay
        }
        #expect(delays.allSatisfy { (.seconds(1) ... .seconds(120)).contains($0) })
        #expect(delays.suffix(25).contains { $0 > .seconds(60) })
    }

    /// An hour against a broker that refuses connections, or accepts and closes them.
    @Test(arguments: [nil, .milliseconds(20)] as [Duration?], 0..<50 as Range<UInt64>)
    func anHourOfRefusalsIsACoupleOfAttemptsAMinute(lifetime: Duration?, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var policy = ReconnectPolicy()
        var attempts: [Duration] = []
        var refreshes = 0
        var time = Duration.zero
        while time < .seconds(3600) {
            let decision = policy.connectionEnded(
                lifetime == nil ? .attemptFailed : .closedByPeer, connectedFor: lifetime,
                jitter: .random(in: 0..<1, using: &random))
            #expect((.seconds(1) ... .seconds(120)).contains(decision.delay))
            #expect(decision.takeover == nil)
            time += decision.delay + (lifetime ?? .zero)
            attempts.append(time)
            refreshes += decision.refreshesEndpoint ? 1 : 0
        }
        #expect((30...170).contains(attempts.count))
        #expect(attempts.count { $0 < .seconds(60) } <= 25)
        #expect(refreshes == attempts.count / 3)
    }

    @Test func aSleepEndsDelaysButForThoseThatSomebodyAskedFor() {
        var policy = ReconnectPolicy()
        let failed = policy.connectionEnded(.attemptFailed, connectedFor: nil, jitter: 0.5)
        #expect(failed.isShortenedBySleep)
        #expect(policy.delayAfterSleep(left: .seconds(100), jitter: 0.5) == .milliseconds(150))
        #expect(policy.delayAfterSleep(left: .milliseconds(100), jitter: 0.5) == .milliseconds(100))
        let asked = policy.connectionEnded(
            .attemptFailed, connectedFor: nil, retryAfter: .seconds(60), jitter: 0.5)
        #expect(!asked.isShortenedBySleep)
        let kicks = (1...3).map { _ in
            policy.connectionEnded(.closedByPeer, connectedFor: .zero, jitter: 0.5).isShortenedBySleep
        }
        #expect(kicks == [true, true, false])
        policy = ReconnectPolicy()
        let closures = (1...5).map {
            policy.connectionEnded(.closedByPeer, connectedFor: .seconds($0), jitter: 0.5).isShortenedBySleep
        }
        #expect(closures == [true, true, true, true, false])
    }

    /// The limits of the simulation that `script/bench fleet` runs with a hundred thousand agents.
    @Test(arguments: [0, 30, 300])
    func aFleetComesBackSpreadOutAndSoon(outage: Double) {
        var arrivals: [Int: Int] = [:]
        var returns: [Double] = []
        for seed in 0..<5000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var policy = ReconnectPolicy()
            var (loss, lifetime) = (ReconnectPolicy.Loss.closedByPeer, Optional(Duration.seconds(3600)))
            var time = 0.0
            repeat {
                time +=
                    policy.connectionEnded(
                        loss, connectedFor: lifetime, jitter: .random(in: 0..<1, using: &random)
                    ).delay / .seconds(1)
                arrivals[Int(time), default: 0] += 1
                (loss, lifetime) = (.attemptFailed, nil)
            } while time < outage
            returns.append(time - outage)
        }
        // With a fixed delay, all agents would return in the same second.
        #expect((arrivals.values.max() ?? 0) <= 5000 / 5)
        #expect(returns.count { $0 <= 180 } >= 5000 * 95 / 100)
    }

    /// A link that is cut, or a broker that restarts, time after time. Each connection lasts 31 to 56 s, and each
    /// outage 0 to 2 s. More than 12 s without a connection would lose time needlessly.
    @Test(arguments: 0..<50 as Range<UInt64>, [Duration.zero, .seconds(2)])
    func afterEachOfManyCutsItIsBackWithinTwelveSeconds(seed: UInt64, longestOutage: Duration) {
        var random = SeededGenerator(seed: seed)
        var policy = ReconnectPolicy()
        var worst = Duration.zero
        var takeovers = 0
        for _ in 0..<200 {
            let outage = longestOutage == .zero ? .zero : Duration.milliseconds(.random(in: 100...2000, using: &random))
            let lifetime = Duration.milliseconds(.random(in: 31_000...56_000, using: &random))
            var decision = policy.connectionEnded(
                .closedByPeer, connectedFor: lifetime, jitter: .random(in: 0..<1, using: &random))
            var away = decision.delay
            while away < outage {
                decision = policy.connectionEnded(
                    .attemptFailed, connectedFor: nil, jitter: .random(in: 0..<1, using: &random))
                away += decision.delay
            }
            takeovers += decision.pattern == .takenOver ? 1 : 0
            worst = max(worst, away)
        }
        #expect(takeovers == 0)
        #expect(worst <= .seconds(12))
    }

    /// Most connections last less than 30 s, but not all.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func quickCutsAreFollowedUpAsSoonUnlessTheyGoOn(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var policy = ReconnectPolicy()
        let decisions = (0..<200).map { number in
            let lifetime = number % 5 == 4 ? 31_000 : Int.random(in: 500..<30_000, using: &random)
            return policy.connectionEnded(
                .closedByPeer, connectedFor: .milliseconds(lifetime), jitter: .random(in: 0..<1, using: &random))
        }
        #expect(decisions.allSatisfy { $0.takeover == nil })
        #expect(decisions.map(\.delay).max() ?? .zero <= .seconds(10))
    }

    /// A broker that restarts within 30 s of each connection, and is back before the next attempt.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func aBrokerThatIsSeenToBeGoneIsComeBackToAsSoon(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var policy = ReconnectPolicy()
        for _ in 0..<200 {
            let lifetime = Duration.milliseconds(.random(in: 500..<30_000, using: &random))
            let before = policy
            var decision = policy.connectionEnded(
                .closedByPeer, connectedFor: lifetime, jitter: .random(in: 0..<1, using: &random))
            if decision.takeover != nil {
                policy = before
                decision = policy.connectionEnded(
                    .closedByPeer, connectedFor: lifetime, brokerIsGone: true,
                    jitter: .random(in: 0..<1, using: &random))
            }
            #expect(decision.takeover == nil && decision.pattern == .unclear)
            #expect(decision.delay <= .seconds(10))
        }
    }

    /// The broker repeats the offending packet in each connection, after messages whose handling takes time.
    @Test func whoBreaksTheProtocolTimeAfterTimeIsLeftAloneForLonger() {
        var policy = ReconnectPolicy()
        let delays = (0..<10).map { _ in
            policy.connectionEnded(.protocolBroken, connectedFor: .seconds(40), jitter: 0.9).delay
        }
        #expect(delays.first ?? .zero >= .seconds(1))
        #expect(delays.last == .seconds(120))
    }

    @Test func aGoodConnectionForgetsThePast() {
        var random = SeededGenerator(seed: 2)
        var policy = ReconnectPolicy()
        for _ in 0..<20 {
            _ = policy.connectionEnded(.attemptFailed, connectedFor: nil, jitter: .random(in: 0..<1, using: &random))
        }
        let decision = policy.connectionEnded(
            .noticedHere, connectedFor: .seconds(30), jitter: .random(in: 0..<1, using: &random))
        #expect(decision.delay <= .milliseconds(300))
    }

    @Test func theServersDelayIsNeverShortened() {
        let delays = self.delays(.attemptFailed, connectedFor: nil, retryAfter: .seconds(200))
        #expect(delays.allSatisfy { (.seconds(200) ... .seconds(220)).contains($0) })
    }

    @Test func everyThirdFailureInARowFetchesTheEndpointAgain() {
        var random = SeededGenerator(seed: 3)
        var policy = ReconnectPolicy()
        let refreshes = (0..<6).map { _ in
            policy.connectionEnded(.attemptFailed, connectedFor: nil, jitter: .random(in: 0..<1, using: &random))
                .refreshesEndpoint
        }
        #expect(refreshes == [false, false, true, false, false, true])
    }

    @Test func refusedCredentialsFetchTheEndpointAtOnce() {
        var random = SeededGenerator(seed: 4)
        var policy = ReconnectPolicy()
        #expect(
            policy.connectionEnded(.endpointRefused, connectedFor: nil, jitter: .random(in: 0..<1, using: &random))
                .refreshesEndpoint)
    }

    @Test func theFirstRefusalAfterAConnectionIsFollowedUpAtOnceAndTheNextOnesAreNot() {
        var policy = ReconnectPolicy()
        func refused() -> Duration {
            policy.connectionEnded(.endpointRefused, connectedFor: nil, jitter: 0.5).delay
        }
        #expect(refused() == .zero)
        #expect(refused() >= .seconds(1))
        _ = policy.connectionEnded(.attemptFailed, connectedFor: nil, jitter: 0.5)
        #expect(refused() >= .seconds(1))
        _ = policy.connectionEnded(.closedByPeer, connectedFor: .seconds(1), jitter: 0.5)
        #expect(refused() == .zero)
    }

    @Test func anEndpointThatIsRefusedAndStaysTheSameIsWaitedFor() {
        var policy = ReconnectPolicy()
        _ = policy.connectionEnded(.endpointRefused, connectedFor: nil, jitter: 0.5)
        let delays = (0..<10).map { _ in policy.nothingNew(jitter: 0.99) }
        #expect(delays.allSatisfy { (.seconds(1) ... .seconds(120)).contains($0) })
        #expect(delays.last == .seconds(120))
    }
}
