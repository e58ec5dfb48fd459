import Faults
import Testing

/// A message that the broker delivered is handled, whatever happens to the process and the connection.
@Suite(.serialized) struct ScenarioTests {
    @Test(.timeLimit(.minutes(15)), arguments: Scenario.all(.quick).map(\.name))
    func nothingIsLost(name: String) async throws {
        let scenario = try #require(Scenario.all(.quick).first { $0.name == name })
        let outcome = try await scenario.run(seed: 1)
        var table = OutcomeTable()
        table.add(outcome)
        print(table.text)
        #expect(outcome.lost.isEmpty)
        #expect(outcome.problems.isEmpty)
    }
}
