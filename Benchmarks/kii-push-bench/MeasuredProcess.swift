/// A program whose time, CPU and memory are measured, together with its children.
struct MeasuredProcess {
    struct Outcome {
        /// The `name=value` words of its output.
        var said: Sample = [:]
        /// `user`, `system` and `cpu` of an operation, `wall` and `peak`.
        var usage: Sample = [:]
    }

    private let command: [String]
    private let child: ChildProcess

    /// Starts the program, and ends it after 180 s.
    ///
    /// - Parameter discardsOutput: whether to discard the output. Reading many printed messages would slow down both
    ///   processes.
    init(_ command: [String], _ bench: Workbench, discardsOutput: Bool = false) throws {
        self.command = command
        let options = discardsOutput ? ["-d", "180"] : ["180"]
        self.child = try ChildProcess([bench.program("measure")] + options + command)
    }

    /// Waits for the end of the program, and requires success.
    ///
    /// - Parameter count: the number of operations that share the CPU time.
    func finish(count: Int) throws -> Outcome {
        var outcome = Outcome()
        var measured: Sample = [:]
        while let line = self.child.nextLine() {
            if line.hasPrefix("measured ") {
                measured = fields(of: line)
            } else if line.contains("=") {
                outcome.said.merge(fields(of: line)) { $1 }
            }
        }
        guard self.child.wait().succeeded, let user = measured["user"], let system = measured["system"] else {
            throw ChildProcess.Failure(description: "\(self.command.joined(separator: " ")) failed")
        }
        outcome.usage = measured
        outcome.usage["user"] = user / Double(count)
        outcome.usage["system"] = system / Double(count)
        outcome.usage["cpu"] = (user + system) / Double(count)
        return outcome
    }
}
