import KiiPushCore
import SeededNumbers
import Testing

@Suite struct TakeoverSimulationTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func twoAgentsRecogniseEachOtherAndSlowDown(seed: UInt64) {
        var broker = TakeoverSimulation()
        let first = broker.addAgent(seed: seed * 2, startingAt: .zero)
        let second = broker.addAgent(seed: seed * 2 + 1, startingAt: .seconds(4000))
        broker.run(until: .seconds(4000 + 600))
        #expect(first.recognised.count == 1 && second.recognised.count == 1)
        // Each agent needs five closures as evidence, which takes at most 24 connections.
        #expect(broker.connections.count <= 24)
        broker.run(until: .seconds(4000 + 3 * 3600))
        // One agent connects every 150 to 300 s and soon loses its connection. The other agent is connected otherwise,
        // and reconnects within 10 s. So nearly all the time an agent receives.
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
            // Such long and regular pauses look like a time limit of the broker. The agent then connects at most as
            // often as the client.
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
        // The dispute is forgotten, so one closure is no evidence of it.
        broker.addClient(pause: .seconds(1_000_000), startingAt: .seconds(9001))
        broker.run(until: .seconds(9100))
        #expect((first.pauses.last ?? .seconds(100)) <= .seconds(10))
        #expect(first.recognised.count == 1)
    }

    /// The comparison: without recognition the two never slow down.
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
