import Faults
import Testing

// A message that the broker delivered is handled, whatever happens: the scenarios of `script/faults`, small.

/// Those that mostly wait.
private let waiting = ["half-open", "slow", "broker-lazy"]
/// Those whose disk only a runner can be trusted with, which takes it along wherever it ends: `.ci/run` plays them.
private let mounting = ["power", "power-normal"]

private func play(_ name: String) async throws {
    let scenario = try #require(Scenario.all(.quick).first { $0.name == name })
    do {
        expectNothingLost(try await scenario.run(seed: 1))
    } catch let error as LeftOut {
        try Test.cancel("\(error)")
    }
}

private func expectNothingLost(_ outcome: Outcome) {
    var table = OutcomeTable()
    table.add(outcome)
    print(table.text)
    #expect(outcome.failures == [])
}

/// One after the other, since each starts a broker and an agent beside a thousand other tests.
@Suite(.serialized) struct ScenarioTests {
    @Test(
        .timeLimit(.minutes(15)),
        arguments: Scenario.all(.quick).map(\.name).filter { !(waiting + mounting).contains($0) })
    func nothingIsLost(name: String) async throws { try await play(name) }
}

@Suite(.serialized) struct WaitingScenarioTests {
    @Test(.timeLimit(.minutes(15)), arguments: waiting)
    func nothingIsLost(name: String) async throws { try await play(name) }
}

/// The scenarios of `script/brokers` with the broker that is there: a mosquitto with settings of its own choosing.
@Suite(.serialized) struct BrokerScenarioTests {
    @Test(.timeLimit(.minutes(15)), arguments: Scenario.forBrokers(.quick).map(\.name))
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.forBrokers(.quick).first { $0.name == name })
        expectNothingLost(
            try await BrokerServer.with(.mosquitto) { server in try await scenario.run(on: server, seed: 1) })
    }
}
