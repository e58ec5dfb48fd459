import Faults
import Glibc

// Plays scenarios with several brokers and prints the results. `script/brokers` builds and calls it.

@main
struct BrokerRunner {
    static func main() async {
        ChildGroups.endWithInterrupts()
        guard let options = RunnerOptions(CommandLine.arguments.dropFirst()) else {
            complain(RunnerOptions.usage)
            exit(64)
        }
        var outcomes = OutcomeTable(receiver: "broker")
        var traits = TraitsTable()
        var problems: [String] = []
        for kind in options.kinds {
            do {
                let title = "\(kind.title) \(try await kind.version())"
                try await BrokerServer.with(kind) { server in
                    for scenario in options.scenarios {
                        complain("\(title): \(scenario.name)")
                        do {
                            var outcome = try await scenario.run(on: server, seed: 1)
                            outcome.receiver = title
                            outcomes.add(outcome)
                            problems += outcome.failures.map { "\(title): \(scenario.name): \($0)" }
                        } catch {
                            problems.append("\(title): \(scenario.name): \(error)")
                        }
                    }
                    guard let patience = options.patience else { return }
                    complain("\(title): what it does without acknowledgements")
                    traits.add(title, try await BrokerTraits.measure(server, patience: patience))
                }
            } catch {
                problems.append("\(kind.title): \(error)")
            }
        }
        print(outcomes.text)
        if options.patience != nil { print("\n\(traits.text)") }
        for problem in problems { complain(problem) }
        exit(problems.isEmpty ? 0 : 1)
    }

    private static func complain(_ text: String) {
        let bytes = Array("script/brokers: \(text)\n".utf8)
        // A failed write to standard error is ignored.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
