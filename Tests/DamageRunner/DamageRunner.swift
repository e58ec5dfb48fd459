import Damage
import Glibc
import TestSupport

// The program behind `script/damage`: plays every damage and prints the table.

@main
struct DamageRunner {
    static func main() async {
        guard let options = RunnerOptions(CommandLine.arguments.dropFirst()) else {
            complain(RunnerOptions.usage)
            exit(64)
        }
        do {
            let failures = try await withTemporaryDirectory { try await play(options, in: $0) }
            exit(failures == 0 ? 0 : 1)
        } catch {
            complain("script/damage: \(error)")
            exit(70)
        }
    }

    private static func play(_ options: RunnerOptions, in directory: String) async throws -> Int {
        let past = try await Past.make(pageBytes: options.pageBytes, in: directory + "/past")
        let damages = Damage.all(of: past, every: options.stride).filter { damage in
            options.names.isEmpty || options.names.contains { damage.description.hasPrefix($0) }
        }
        print(
            "\(past.acknowledged) messages, \(past.size.pages) pages, \(past.size.frames) frames in the log; "
                + "\(damages.count) damages")
        var table = DamageTable()
        var failures = 0
        let start = ContinuousClock.now
        try await Matrix.play(damages, of: past, in: directory + "/trial") { finding in
            table.add(finding)
            if options.isVerbose { complain("script/damage: \(finding.damage)") }
            guard !finding.problems.isEmpty else { return }
            failures += 1
            complain("script/damage: \(finding.damage): \(finding.problems.joined(separator: "; "))")
        }
        print(table.text)
        print("\(failures) failed, in \(start.duration(to: .now).components.seconds) s")
        return failures
    }

    private static func complain(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        // An error is ignored: standard error may be closed.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}

private struct RunnerOptions {
    static let usage = "usage: script/damage [--verbose] [--every N] [--page-bytes N] [MOMENT/DAMAGE/PLACE ...]"

    var isVerbose = false
    var stride = 1
    var pageBytes: Int?
    /// Prefixes of the damages to play; empty: all damages.
    var names: [String] = []

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--verbose": self.isVerbose = true
            case "--every":
                guard let stride = rest.popFirst().flatMap({ Int($0) }), stride > 0 else { return nil }
                self.stride = stride
            case "--page-bytes":
                guard let bytes = rest.popFirst().flatMap({ Int($0) }), (512...65_536).contains(bytes) else {
                    return nil
                }
                self.pageBytes = bytes
            case _ where argument.hasPrefix("-"): return nil
            default: self.names.append(argument)
            }
        }
    }
}
