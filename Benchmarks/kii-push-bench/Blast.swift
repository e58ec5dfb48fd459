/// A run against `Benchmarks/C/blast.c`, a broker that is never the bottleneck.
struct Blast {
    var payload: String
    var count: Int
    var qos = 0
    var isEncrypted = false
    var isWebSocket = false
    /// The pause between two messages; `nil` for as fast as the receiver reads.
    var pauseMicroseconds: Int?
}

extension Workbench {
    /// Runs a receiver against the blast; `receiver` makes its command line from the port. Returns the values of every
    /// contender, and the values that the receiver prints.
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
        // An acknowledged message may still wait for its handler, so the handler's own time is used if the receiver
        // prints one.
        sample["rate"] = Double(blast.count) / (outcome.said["handled"].map { $0 - began } ?? seconds)
        return sample
    }

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
    func port() throws -> Int {
        guard let words = self.nextLine()?.split(separator: " "), words.count == 2, let port = Int(words[1]) else {
            throw Failure(description: "no port was said")
        }
        return port
    }
}
