import Faults
import Glibc

// Plays the scenarios and prints the table. `script/faults` builds and calls it.

@main
struct FaultRunner {
    static func main() async {
        PrivateMounts.begin()
        ChildGroups.endWithInterrupts()
        guard let options = RunnerOptions(CommandLine.arguments.dropFirst()) else {
            complain(RunnerOptions.usage)
            exit(64)
        }
        var table = OutcomeTable()
        var problems: [String] = []
        var leftOut: [(reason: String, names: [String])] = []
        print("seed \(options.seed)")
        for (scenario, kind) in options.runs {
            let name = kind.map { "\(scenario.name), \($0.name)" } ?? scenario.name
            complain("script/faults: \(name)")
            do {
                let outcome = try await scenario.run(
                    with: kind, usesWebSocket: options.usesWebSocket, seed: options.seed)
                table.add(outcome)
                if kind == nil { problems += outcome.failures.map { "\(name): \($0)" } }
            } catch let error as LeftOut {
                if leftOut.last?.reason != error.description { leftOut.append((error.description, [])) }
                leftOut[leftOut.count - 1].names.append(name)
            } catch {
                problems.append("\(name): \(error)")
            }
        }
        print(table.text)
        for problem in problems { complain("script/faults: \(problem)") }
        for (reason, names) in leftOut {
            complain("script/faults: left out: \(names.joined(separator: ", ")); \(reason)")
        }
        // A scenario that could not be played has not passed.
        let isWhole = leftOut.isEmpty
        exit(problems.isEmpty && isWhole ? 0 : problems.isEmpty && getenv("CI") == nil ? 77 : 1)
    }

    private static func complain(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        // A failed write to standard error is ignored.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
