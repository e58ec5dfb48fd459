import Foundation
import KiiPushCore
import Testing

@Suite struct DeliverySimulationTests {
    /// So many runs of a simulation, or as many as the variable says.
    private static func seeds(_ usual: UInt64) -> Range<UInt64> {
        0..<(ProcessInfo.processInfo.environment["KII_TEST_SEEDS"].flatMap { UInt64($0) } ?? usual)
    }

    private func configuration(_ seed: UInt64, isStrictlyOrdered: Bool) -> DeliveryConfiguration {
        var configuration = DeliveryConfiguration()
        configuration.messagesInMemory = [4, 20, 64, 1000][Int(seed % 4)]
        // Every third time, what memory holds is bounded by bytes.
        configuration.bytesInMemory = configuration.messagesInMemory * (seed % 3 == 0 ? 100 : 10_000)
        configuration.isStrictlyOrdered = isStrictlyOrdered
        return configuration
    }

    @Test(arguments: seeds(15))
    func everyMessageEndsOnceInOrderAndAlone(seed: UInt64) throws {
        let configuration = self.configuration(seed, isStrictlyOrdered: seed % 5 == 0)
        var simulation = try DeliverySimulation(seed: seed, configuration)
        for _ in 0..<1000 { try simulation.step(receives: true) }
        try simulation.finish()
        let (count, unfinished, violations) = (
            simulation.sequenceCount, simulation.unfinished, simulation.violations
        )
        #expect(count > 20)
        if configuration.messagesInMemory == 20 { #expect(simulation.scans > 0) }
        #expect(unfinished == [])
        #expect(violations == [])
        for order in simulation.startOrders { #expect(order == order.sorted()) }
    }

    @Test(arguments: seeds(15))
    func whateverAProcessLeavesTheNextOneBringsToItsEnd(seed: UInt64) throws {
        let configuration = self.configuration(seed, isStrictlyOrdered: seed % 2 == 0)
        var simulation = try DeliverySimulation(seed: seed + 1000, configuration)
        for _ in 0..<1500 { try simulation.step(receives: true, .restarts) }
        try simulation.finish()
        let (processes, unfinished, violations) = (simulation.process, simulation.unfinished, simulation.violations)
        #expect(processes > 2)
        #expect(unfinished == [])
        #expect(violations == [])
        if !configuration.isStrictlyOrdered {
            for order in simulation.startOrders { #expect(order == order.sorted()) }
        }
    }

    @Test(arguments: seeds(24))
    func whatIsShownIsOpenedToldAndEnds(seed: UInt64) throws {
        let configuration = self.configuration(seed, isStrictlyOrdered: seed % 5 == 0)
        var simulation = try DeliverySimulation(seed: seed + 3000, configuration)
        let events: DeliverySimulation.Events = seed % 2 == 0 ? .presentations : [.presentations, .restarts]
        for _ in 0..<1500 { try simulation.step(receives: true, events) }
        try simulation.finish(.presentations)
        let (unfinished, violations, user) = (simulation.unfinished, simulation.violations, simulation.user)
        #expect(unfinished == [])
        #expect(violations == [])
        #expect(user.written.count > 4)
        #expect(user.written.subtracting(user.told) == [])
    }

    @Test(arguments: seeds(24))
    func whatIsSetAsideIsHandedToTheNextRunAndEnds(seed: UInt64) throws {
        let configuration = self.configuration(seed, isStrictlyOrdered: seed % 5 == 0)
        var simulation = try DeliverySimulation(seed: seed + 4000, configuration)
        let events: DeliverySimulation.Events =
            seed % 3 == 0 ? .setAsides : seed % 3 == 1 ? [.setAsides, .restarts] : [.setAsides, .interventions]
        for _ in 0..<1500 { try simulation.step(receives: true, events) }
        let unfinishedAtFirst = simulation.unfinished
        try simulation.finish(.setAsides)
        let (unfinished, violations, shelf) = (simulation.unfinished, simulation.violations, simulation.shelf)
        #expect(!shelf.ever.isDisjoint(with: unfinishedAtFirst))
        #expect(unfinished == [])
        #expect(violations == [])
        if !configuration.isStrictlyOrdered {
            for order in simulation.startOrders { #expect(order == order.sorted()) }
        }
    }

    @Test(arguments: seeds(15))
    func movingToAnotherSessionAndTryingAgainDisturbNothing(seed: UInt64) throws {
        var configuration = self.configuration(seed, isStrictlyOrdered: seed % 2 == 0)
        configuration.retryDelays = [.seconds(1), .seconds(5)]
        var simulation = try DeliverySimulation(seed: seed + 2000, configuration)
        for _ in 0..<1500 { try simulation.step(receives: true, .interventions) }
        try simulation.finish()
        let (unfinished, violations) = (simulation.unfinished, simulation.violations)
        #expect(unfinished == [])
        #expect(violations == [])
        for order in simulation.startOrders { #expect(order == order.sorted()) }
    }
}
