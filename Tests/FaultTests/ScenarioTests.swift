import Faults
import Testing

// Small runs of the scenarios of `script/faults`: every message that the broker delivered is handled.

/// Scenarios with a disk that would outlive a crashed test process. Only `.ci/run` plays them, with a runner that ends
/// its disk however the runner ends.
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

/// Kills, cuts and broker deaths, with the agent behind a WebSocket.
@Suite struct WebSocketScenarioTests {
    @Test(arguments: ["kill", "tls", "cut", "split", "broker"])
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.all(.quick).first { $0.name == name })
        expectNothingLost(try await scenario.run(usesWebSocket: true, seed: 1))
    }
}

/// The scenarios of `script/brokers` with the installed mosquitto, which has default settings.
@Suite struct BrokerScenarioTests {
    @Test(arguments: Scenario.forBrokers(.quick).map(\.name))
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.forBrokers(.quick).first { $0.name == name })
        expectNothingLost(
            try await BrokerServer.with(.mosquitto) { server in try await scenario.run(on: server, seed: 1) })
    }
}
