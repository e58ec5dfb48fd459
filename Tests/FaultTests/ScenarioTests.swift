import Faults
import Testing

// A message that the broker delivered is handled, whatever happens: the scenarios of `script/faults`, small.

/// Those whose disk only a runner can be trusted with, which takes it along wherever it ends: `.ci/run` plays them.
private let mounting = ["power", "power-normal"]

private func expectNothingLost(_ outcome: Outcome) {
    var table = OutcomeTable()
    table.add(outcome)
    print(table.text)
    #expect(outcome.failures == [])
}

@Suite struct ScenarioTests {
    @Test(arguments: Scenario.all(.quick).map(\.name).filter { !mounting.contains($0) })
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.all(.quick).first { $0.name == name })
        do {
            expectNothingLost(try await scenario.run(seed: 1))
        } catch let error as LeftOut {
            try Test.cancel("\(error)")
        }
    }
}

/// Kills, cuts and the broker's death, with the agent behind a WebSocket.
@Suite struct WebSocketScenarioTests {
    @Test(arguments: ["kill", "tls", "cut", "split", "broker"])
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.all(.quick).first { $0.name == name })
        expectNothingLost(try await scenario.run(usesWebSocket: true, seed: 1))
    }
}

/// The scenarios of `script/brokers` with the broker that is there: a mosquitto with settings of its own choosing.
@Suite struct BrokerScenarioTests {
    @Test(arguments: Scenario.forBrokers(.quick).map(\.name))
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.forBrokers(.quick).first { $0.name == name })
        expectNothingLost(
            try await BrokerServer.with(.mosquitto) { server in try await scenario.run(on: server, seed: 1) })
    }
}
