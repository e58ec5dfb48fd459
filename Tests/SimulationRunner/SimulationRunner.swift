import Dispatch
import Glibc
import KiiPushCore
import Simulation

@main
struct SimulationRunner {
    static func main() {
        // Random hashing would give sets and dictionaries another order in each process, so a seed would not repeat its
        // history.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", arguments)
        }
        guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
            complain(Options.usage)
            exit(64)
        }
        guard Simulation.prepare() else {
            complain("kii-push-simulate: SQLite does not take the simulated disk")
            exit(70)
        }
        if let seed = options.seed { exit(Self.replay(seed, options.elements)) }
        exit(Self.playAll(options))
    }

    private static func replay(_ seed: UInt64, _ elements: [Int]?) -> Int32 {
        var plan = Plan(seed: seed)
        if let elements {
            guard elements.allSatisfy(plan.indices.contains) else {
                complain("kii-push-simulate: --only takes numbers from 0 to \(plan.indices.count - 1) for this seed")
                return 64
            }
            plan = plan.keeping(elements)
        }
        guard let directory = makeDirectory() else { return 73 }
        defer { rmdir(directory) }
        print(plan)
        guard let judgement = Simulation.play(plan, in: directory, tracer: { print("  \($0)") }) else { return 70 }
        for sentence in judgement.violations { print("  ✘ \(sentence)") }
        print(table(judgement.counts, failures: judgement.violations.isEmpty ? 0 : 1))
        return judgement.violations.isEmpty ? 0 : 1
    }

    private static func playAll(_ options: Options) -> Int32 {
        let jobs = options.jobs ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let state = Locked(Progress())
        DispatchQueue.concurrentPerform(iterations: jobs) { _ in
            guard let directory = makeDirectory() else { return state.withLock { $0.isBroken = true } }
            defer { rmdir(directory) }
            while let seed = state.withLock({ $0.next(options) }) {
                guard let judgement = Simulation.play(Plan(seed: seed), in: directory) else {
                    return state.withLock { $0.isBroken = true }
                }
                let progress = state.withLock { state in
                    state.counts.add(judgement.counts)
                    return state.told
                }
                if let progress { complain(progress) }
                guard !judgement.violations.isEmpty else { continue }
                let isFirst = state.withLock { state in
                    state.failures.append(seed)
                    return state.failures.count <= 3
                }
                if isFirst { self.explain(seed, judgement, in: directory) }
            }
        }
        let end = state.withLock { $0 }
        print(table(end.counts, failures: end.failures.count))
        if end.isBroken { complain("kii-push-simulate: a history could not be played: is there room in /dev/shm?") }
        return end.isBroken ? 70 : end.failures.isEmpty ? 0 : 1
    }

    private static func explain(_ seed: UInt64, _ judgement: Judgement, in directory: String) {
        let smaller = Simulation.shrink(Plan(seed: seed), in: directory)
        var text = "seed \(seed) fails:\n" + judgement.violations.map { "  ✘ \($0)\n" }.joined()
        text += "a smaller history that fails: --seed \(seed) --only "
        text += smaller.indices.map(String.init).joined(separator: ",") + "\n\(smaller)\n"
        for sentence in Simulation.play(smaller, in: directory)?.violations ?? [] { text += "  ✘ \(sentence)\n" }
        print(text)
        // If standard output is a file, its buffer would keep the text until the end of the run.
        fflush(nil)
    }
}

private struct Progress: Sendable {
    var counts = Judgement.Counts()
    var failures: [UInt64] = []
    var isBroken = false
    private var taken = 0

    init() { self.counts.histories = 0 }

    var told: String? {
        let played = self.counts.histories
        return played.isMultiple(of: 10_000) ? "\(played) histories, \(self.failures.count) failed" : nil
    }

    mutating func next(_ options: Options) -> UInt64? {
        guard self.taken < options.seeds, !self.isBroken, self.failures.count < options.failures else { return nil }
        defer { self.taken += 1 }
        return options.first + UInt64(self.taken)
    }
}

private func makeDirectory() -> String? {
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/kii-push-simulate-XXXXXX".utf8CString)
    return mkdtemp(&template).map { String(cString: $0) }
}

private func complain(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(2, line, line.count)
}

private func table(_ counts: Judgement.Counts, failures: Int) -> String {
    let again = counts.again.sorted { $0.key < $1.key }.map { "\($0.value) (\($0.key))" }.joined(separator: ", ")
    return """
        histories       \(counts.histories), \(failures) failed
        processes       \(counts.processes)
        messages        \(counts.messages), \(counts.acknowledged) acknowledged, \(counts.lostByBroker) lost by the broker, \
        \(counts.takenForAnother) taken for an equal one of a broker that went back
        handled         \(counts.handled), again: \(again.isEmpty ? "0" : again)
        dead letters    \(counts.deadLetters)
        told as lost    \(counts.toldAsLost); in \(counts.unreadable) histories the damaged inbox could not be read at the end
        events          \(counts.events)
        """
}
