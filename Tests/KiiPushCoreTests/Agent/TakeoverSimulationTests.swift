import KiiPushCore
import SeededNumbers
import Testing

/// Two receivers on one installation: recognised, and slowed down to a few connections an hour.
@Suite struct TakeoverSimulationTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func twoAgentsRecogniseEachOtherAndSlowDown(seed: UInt64) {
        var broker = TakeoverSimulation()
        let first = broker.addAgent(seed: seed * 2, startingAt: .zero)
        let second = broker.addAgent(seed: seed * 2 + 1, startingAt: .seconds(4000))
        broker.run(until: .seconds(4000 + 600))
        #expect(first.recognised.count == 1 && second.recognised.count == 1)
        // Five closures each, and no more than two dozen connections for it.
        #expect(broker.connections.count <= 24)
        broker.run(until: .seconds(4000 + 3 * 3600))
        // One of the two comes every 150 to 300 s and soon has to leave; the other stands meanwhile, and is back within
        // 10 s. So somebody receives nearly all the time.
        #expect((22...50).contains(broker.connectionsInTheLastHour))
        let visitor = first.pauses.last ?? .zero >= .seconds(150) ? first : second
        let holder = visitor === first ? second : first
        #expect(visitor.pauses.suffix(5).allSatisfy { (.seconds(150) ... .seconds(300)).contains($0) })
        #expect(holder.pauses.suffix(5).allSatisfy { $0 <= .seconds(10) })
        #expect(first.recognised.count == 1 && second.recognised.count == 1)
    }

    @Test(arguments: [1, 5, 30, 120] as [Int64], 0..<5 as Range<UInt64>)
    func aClientOfAnotherMakeIsLeftAloneForMinutes(pause: Int64, seed: UInt64) {
        var broker = TakeoverSimulation()
        let agent = broker.addAgent(seed: seed, startingAt: .zero)
        broker.addClient(pause: .seconds(pause), startingAt: .seconds(4000))
        broker.run(until: .seconds(4000 + 3 * 3600))
        let own = broker.connections.count { $0.receiver == 0 && $0.at > .seconds(4000 + 2 * 3600) }
        if pause < 30 {
            #expect(agent.recognised.count == 1)
            #expect(own <= 24)
        } else {
            // As regular as somebody's time limit, and seldom as it is.
            #expect(own <= 3600 / Int(pause))
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func whoIsLeftAloneComesBackWithinFiveMinutesAndForgetsTheDispute(seed: UInt64) {
        var broker = TakeoverSimulation()
        let first = broker.addAgent(seed: seed * 2, startingAt: .zero)
        _ = broker.addAgent(seed: seed * 2 + 1, startingAt: .seconds(4000))
        broker.run(until: .seconds(8000))
        broker.stop(1)
        broker.run(until: .seconds(8300))
        #expect(broker.connected?.receiver == 0)
        broker.run(until: .seconds(9000))
        // A broker that restarts is no evidence any more.
        broker.addClient(pause: .seconds(1_000_000), startingAt: .seconds(9001))
        broker.run(until: .seconds(9100))
        #expect((first.pauses.last ?? .seconds(100)) <= .seconds(10))
        #expect(first.recognised.count == 1)
    }

    /// The numbers before anybody is recognised: without them the two would go on as they began.
    @Test func withoutRecognitionTheTwoWouldGoOn() {
        var configuration = ReconnectPolicy.Configuration()
        configuration.pattern.closures = .max
        var broker = TakeoverSimulation()
        for seed in 0..<2 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var policy = ReconnectPolicy(configuration: configuration)
            broker.receivers.append(
                .init(pause: { lifetime in
                    policy.connectionEnded(
                        .closedByPeer, connectedFor: lifetime, jitter: .random(in: 0..<1, using: &random)
                    ).delay
                }))
        }
        broker.run(until: .seconds(3 * 3600))
        #expect(broker.connectionsInTheLastHour > 48)
    }
}
