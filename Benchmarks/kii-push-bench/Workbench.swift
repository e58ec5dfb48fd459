import Glibc

/// What the sections of the table share: where the programs are, and how much to run.
struct Workbench {
    /// The folder of the C programs, the certificate and the stripped `kii-push`; runs may leave files in it.
    var folder: String
    /// The folder of the payloads.
    var payloads: String
    /// The path of this program.
    var executable: String
    /// A smoke run: everything once, and little of it.
    var isQuick: Bool

    var repetitions: Int { self.isQuick ? 1 : 5 }
    var certificate: String { "\(self.folder)/certificate.pem" }
    var key: String { "\(self.folder)/key.pem" }
    var smallPayload: String { "\(self.payloads)/kii-200.json" }
    var largePayload: String { "\(self.payloads)/kii-400.json" }

    func program(_ name: String) -> String { "\(self.folder)/\(name)" }

    /// `count`, or a tenth of it in a smoke run.
    func scaled(_ count: Int) -> Int { self.isQuick ? max(count / 10, 1) : count }

    /// A run against the broker that is never the bottleneck.
    struct Blast {
        var payload: String
        var count: Int
        var qos = 0
        var isEncrypted = false
        /// Connections that are served without messages first.
        var silentConnections = 0
        /// Between two messages; `nil` is as fast as they are taken.
        var pauseMicroseconds: Int?
    }

    /// Runs `receiver` (its command line for a port) against the blast. Gives `rate`, `cpu` and `user` seconds a
    /// message, and the seconds that the receiver `lived`.
    func run(_ blast: Blast, receiver: (_ port: Int) throws -> [String]) throws -> Sample {
        var arguments = [self.program("blast"), blast.payload, "\(blast.count)", "-q", "\(blast.qos)"]
        if blast.isEncrypted { arguments += ["-k", self.certificate, self.key] }
        if blast.silentConnections > 0 { arguments += ["-s", "\(blast.silentConnections)"] }
        if let pause = blast.pauseMicroseconds { arguments += ["-p", "\(pause)"] }
        let broker = try ChildProcess(arguments)
        let port = try broker.port()
        let command = try receiver(port)
        let start = ContinuousClock.now
        let subscriber = try ChildProcess(["timeout", "-k", "5", "180"] + command)
        var said: Sample = [:]
        while let line = subscriber.nextLine() {
            if line.contains("=") { said.merge(fields(of: line)) { $1 } }
        }
        let usage = subscriber.wait()
        said["lived"] = (ContinuousClock.now - start) / .seconds(1)
        guard usage.succeeded, let line = broker.nextLine() else {
            throw ChildProcess.Failure(description: "\(command.joined(separator: " ")) did not receive everything")
        }
        let result = fields(of: line)
        guard let seconds = result["seconds"], result["messages"] == Double(blast.count),
            blast.qos == 0 || result["acknowledged"] == Double(blast.count)
        else { throw ChildProcess.Failure(description: "\(command[0]): \(line)") }
        let count = Double(blast.count)
        said["rate"] = count / seconds
        said["cpu"] = usage.cpuSeconds / count
        said["user"] = usage.userSeconds / count
        return said
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

    /// Removes a folder and what is in it.
    static func remove(_ directory: String) {
        // What is left over is found in the build folder, and in nobody's way.
        _ = try? ChildProcess(["rm", "-rf", directory]).wait()
    }

    /// The command line of mosquitto_sub for a run.
    func mosquittoSub(port: Int, count: Int, qos: Int, isEncrypted: Bool = false) -> [String] {
        ["mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-t", "bench/0123456789abcd", "-q", "\(qos)"]
            + ["-C", "\(count)"] + (isEncrypted ? ["--cafile", self.certificate] : [])
    }

    /// The command line of one of this program's own commands.
    func own(_ arguments: [String]) -> [String] { [self.executable] + arguments }
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
