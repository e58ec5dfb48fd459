import Glibc

/// A running gateway, and the broker that holds its connections.
final class Gateway {
    let count: Int
    private let holds: [ChildProcess]
    private let ports: [Int]
    private let process: ChildProcess
    private let directory: String
    /// The gateway's name in its fleet; ``database`` is the fleet's database.
    let name: String
    let database: String
    private var handled = 0
    /// Seconds from the first connection to the last subscription.
    private(set) var connectSeconds = Double.nan
    /// CPU seconds of the gateway from its start to the last subscription.
    private(set) var connectCPUSeconds = Double.nan

    /// Starts a gateway and waits until every agent has subscribed.
    ///
    /// - Parameters:
    ///   - inbox: `memory` or `file`.
    ///   - payload: a file with one payload in each line; the messages use them in turn.
    ///   - isEncrypted: whether the agents connect over TLS.
    ///   - isFirst: whether the broker has no sessions yet. Each agent then notes its new session in its file.
    init(
        _ bench: Workbench, inbox: String, count: Int, payload: String? = nil, isEncrypted: Bool = false,
        isFirst: Bool = false
    ) throws {
        self.count = count
        let keys = isEncrypted ? ["-k", bench.certificate, bench.key] : []
        let hold = try ChildProcess([bench.program("hold"), payload ?? bench.smallPayload] + keys, takesInput: true)
        let port = try hold.port()
        (self.holds, self.ports) = ([hold], [port])
        (self.name, self.database) = ("", "")
        self.directory = try GatewayReceiver.makeStateDirectory(
            in: bench.folder, port: port, count: count, hasRun: !isFirst)
        let authority = isEncrypted ? [bench.certificate] : []
        self.process = try ChildProcess(
            bench.own(["gateway", inbox, self.directory, "\(count)"] + authority), takesInput: true)
        try self.waitForAll()
    }

    /// Starts the first gateway of a fleet.
    ///
    /// - Parameters:
    ///   - database: a database with the tables and without agents.
    ///   - count: the number of the fleet's agents, declared as after an earlier registration.
    ///   - brokers: the number of brokers for the agents. One address has at most 28,000 connections to one port, and
    ///     the kernel searches long for a free port if more than half are in use.
    ///   - isEmpty: whether ``declare(in:)`` declares the agents later.
    init(
        _ bench: Workbench, sharing database: BenchDatabase.Fleet, count: Int, brokers: Int = 1, isEmpty: Bool = false
    ) throws {
        self.count = count
        self.holds = try (0..<brokers).map { _ in
            try ChildProcess([bench.program("hold"), bench.smallPayload], takesInput: true)
        }
        self.ports = try self.holds.map { try $0.port() }
        if !isEmpty { try database.declare(count, at: self.ports) }
        (self.name, self.database) = ("gateway-1", database.target)
        self.directory = "\(bench.folder)/\(database.name)-1"
        self.process = try ChildProcess(
            bench.own(["gateway", "postgres", self.directory, "0", self.database, self.name]), takesInput: true)
        if !isEmpty { try self.waitForAll() }
    }

    func declare(in database: BenchDatabase.Fleet) throws {
        try database.declare(self.count, at: self.ports)
        try self.waitForAll()
    }

    /// Starts another gateway of the same fleet, with the same brokers.
    init(_ bench: Workbench, joining first: Gateway, as number: Int) throws {
        (self.count, self.holds, self.ports, self.database) = (first.count, [], [], first.database)
        self.name = "gateway-\(number)"
        self.directory = first.directory.dropLast() + "\(number)"
        self.process = try ChildProcess(
            bench.own(["gateway", "postgres", self.directory, "0", self.database, self.name]), takesInput: true)
    }

    func waitForAll() throws {
        for (index, hold) in self.holds.enumerated() {
            // The agents use the brokers in turn, so the first brokers may have one agent more.
            let share = (self.count + self.holds.count - 1 - index) / self.holds.count
            self.connectSeconds = try hold.answer(to: "wait \(share)")["seconds"] ?? .nan
        }
        self.connectCPUSeconds = Threads(of: self.process.pid).runSeconds
    }

    /// Makes the brokers send messages to all agents of the fleet in turn. Returns the seconds until the last
    /// acknowledgement.
    ///
    /// - Parameter rate: messages a second; `nil` for as fast as the gateway reads.
    func send(_ count: Int, aSecond rate: Int? = nil) throws -> Double {
        let pause = rate.map { 1_000_000 * self.holds.count / $0 } ?? 0
        for hold in self.holds { hold.say("send \(count / self.holds.count) all \(pause)") }
        var seconds = 0.0
        for hold in self.holds { seconds = max(seconds, try hold.nextAnswer()["seconds"] ?? .nan) }
        return seconds
    }

    func kill() { self.process.end(SIGKILL) }

    deinit {
        self.process.end(SIGKILL)
        Workbench.remove(self.directory)
    }

    var threads: Threads { Threads(of: self.process.pid) }
    var resident: Double { residentBytes(of: "\(self.process.pid)") }
    var descriptors: Int { Descriptors.open(by: self.process.pid) }

    /// Makes the broker send messages, and waits until all are handled.
    ///
    /// - Parameters:
    ///   - count: the number of messages.
    ///   - receivers: `all` agents in turn, or `one`.
    ///   - pauseMicroseconds: the pause between two messages.
    /// - Returns: the values of every contender, up to the last PUBACK; `handled`, the handled messages a second up to
    ///   the last call of the handler; and `wakeUps` of the gateway a message. The kernel reports `cpu` precisely, and
    ///   its parts `user` and `system` in hundredths of a second. `peak` is the peak since the gateway's start.
    func receive(_ count: Int, by receivers: String, pauseMicroseconds: Int = 0) throws -> Sample {
        let (before, timesBefore) = (self.threads, processTimes(of: self.process.pid))
        let begin = monotonicSeconds()
        let answer = try self.holds[0].answer(to: "send \(count) \(receivers) \(pauseMicroseconds)")
        self.handled += count
        _ = try self.process.answer(to: "\(self.handled)")
        let handledSeconds = monotonicSeconds() - begin
        let used = self.threads.since(before)
        let times = processTimes(of: self.process.pid)
        let (messages, seconds) = (Double(count), answer["seconds"] ?? .nan)
        return [
            "rate": messages / seconds, "wall": seconds, "handled": messages / handledSeconds,
            "cpu": used.runSeconds / messages,
            "user": (times.user - timesBefore.user) / messages,
            "system": (times.system - timesBefore.system) / messages,
            "peak": peakBytes(of: "\(self.process.pid)"), "wakeUps": used.wakeUps / messages,
        ]
    }

    /// Seconds until all agents have stopped gracefully.
    func stop() throws -> Double {
        self.process.endInput()
        guard let seconds = self.process.nextLine().map(fields)?["stopped"], self.process.wait().succeeded else {
            throw ChildProcess.Failure(description: "the gateway did not stop")
        }
        return seconds
    }
}

extension ChildProcess {
    func answer(to line: String) throws -> Sample {
        self.say(line)
        return try self.nextAnswer()
    }

    fileprivate func nextAnswer() throws -> Sample {
        guard let answer = self.nextLine() else { throw Failure(description: "no answer") }
        return fields(of: answer)
    }
}
