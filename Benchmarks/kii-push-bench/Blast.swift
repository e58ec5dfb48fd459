/// A run against the broker that is never the bottleneck (`Benchmarks/C/blast.c`).
struct Blast {
    var payload: String
    var count: Int
    var qos = 0
    var isEncrypted = false
    var isWebSocket = false
    /// Between two messages; `nil` is as fast as they are taken.
    var pauseMicroseconds: Int?
}

extension Workbench {
    /// Runs a receiver (its command line for a port) against the blast. Gives what every contender gives, and what the
    /// receiver said.
    func run(
        _ blast: Blast,
        discardsOutput: Bool = false,
        receiver: (_ port: Int) throws -> [String]
    ) throws -> Sample {
        var arguments = [self.program("blast"), blast.payload, "\(blast.count)", "-q", "\(blast.qos)"]
        if blast.isEncrypted { arguments += ["-k", self.certificate, self.key] }
        if blast.isWebSocket { arguments.append("-w") }
        if let pause = blast.pauseMicroseconds { arguments += ["-p", "\(pause)"] }
        let broker = try ChildProcess(arguments)
        let command = try receiver(try broker.port())
        let outcome = try MeasuredProcess(command, self, discardsOutput: discardsOutput).finish(count: blast.count)
        let line = broker.nextLine() ?? "the blast ended"
        let result = fields(of: line)
        guard let seconds = result["seconds"], let began = result["began"], result["messages"] == Double(blast.count),
            blast.qos == 0 || result["acknowledged"] == Double(blast.count)
        else { throw ChildProcess.Failure(description: "\(command.joined(separator: " ")): \(line)") }
        var sample = outcome.said.merging(outcome.usage) { $1 }
        // What is acknowledged need not be handled yet, where it is kept.
        sample["rate"] = Double(blast.count) / (outcome.said["handled"].map { $0 - began } ?? seconds)
        return sample
    }

    /// Runs an agent of this program's own against the blast, as ``AgentReceiver`` describes.
    func run(_ blast: Blast, agent kind: String) throws -> Sample {
        var directory: String?
        defer { directory.map(Self.remove) }
        return try self.run(blast) { port in
            let made = try AgentReceiver.makeStateDirectory(in: self.folder, port: port)
            directory = made
            return self.own(["agent", kind, made, "\(blast.count)"])
        }
    }
}

extension ChildProcess {
    /// The port that the program says in its first line.
    func port() throws -> Int {
        guard let words = self.nextLine()?.split(separator: " "), words.count == 2, let port = Int(words[1]) else {
            throw Failure(description: "no port was said")
        }
        return port
    }
}
