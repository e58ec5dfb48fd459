import Damage
import Glibc
import TestSupport

// Plays every damage and prints the table. `script/damage` builds and calls it.

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

    /// - Returns: how many damages came out other than promised.
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
        let matrix = try Matrix(past, in: directory + "/trial")
        for damage in damages {
            // Before it: the last one that is told is the one that hangs or traps.
            if options.isVerbose { complain("script/damage: \(damage)") }
            let finding = await matrix.play(damage)
            table.add(finding)
            guard !finding.problems.isEmpty else { continue }
            failures += 1
            complain("script/damage: \(damage): \(finding.problems.joined(separator: "; "))")
        }
        print(table.text)
        print("\(failures) failed, in \(start.duration(to: .now).components.seconds) s")
        return failures
    }

    private static func complain(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        // Nobody reads it, then nobody does.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// What the command line asks for.
private struct RunnerOptions {
    static let usage = "usage: script/damage [--verbose] [--every N] [--page-bytes N] [MOMENT/DAMAGE/PLACE ...]"

    var isVerbose = false
    var stride = 1
    var pageBytes: Int?
    /// How the damages begin that are played; all where there is none.
    var names: [String] = []

    /// `nil` when the arguments make no sense.
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
