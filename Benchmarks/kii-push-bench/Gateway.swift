import Glibc

/// A gateway that runs, and the broker that holds its connections.
final class Gateway {
    let count: Int
    private let holds: [ChildProcess]
    private let ports: [Int]
    private let process: ChildProcess
    private let directory: String
    /// The gateway's name in its fleet, and the fleet's database.
    let name: String
    let database: String
    private var handled = 0
    /// From the first connection to the last subscription.
    private(set) var connectSeconds = Double.nan
    /// The same, in the gateway's CPU time, from its start on.
    private(set) var connectCPUSeconds = Double.nan

    /// Starts a gateway and waits until every agent has subscribed.
    ///
    /// - Parameters:
    ///   - inbox: `memory` or `file`.
    ///   - payload: the file whose lines are sent in turn.
    ///   - isEncrypted: connects over TLS.
    ///   - isFirst: the broker keeps no session of any agent yet, which each notes in its file when it has one.
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
    ///   - database: has the tables, and no agents yet.
    ///   - count: how many agents the fleet gets, with what registering them would have left.
    ///   - brokers: how many brokers they are spread over. From one address to one port there are 28,000 connections at most,
    ///     and with more than half of them the kernel looks long for a free one.
    ///   - isEmpty: whether its agents are declared later, see ``declare(in:)``.
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

    /// Declares the agents, and waits until all have subscribed.
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

    /// Waits until every agent has subscribed.
    func waitForAll() throws {
        for (index, hold) in self.holds.enumerated() {
            // Each takes every so manieth agent.
            let share = (self.count + self.holds.count - 1 - index) / self.holds.count
            self.connectSeconds = try hold.answer(to: "wait \(share)")["seconds"] ?? .nan
        }
        self.connectCPUSeconds = Threads(of: self.process.pid).runSeconds
    }

    /// Has messages sent to all agents of the fleet in turn. Returns how long it took until all were acknowledged.
    ///
    /// - Parameter rate: how many a second; `nil`: as fast as they are taken.
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

    /// Has messages sent, and waits until all are handled.
    ///
    /// - Parameters:
    ///   - count: how many in all.
    ///   - receivers: `all`, one after the other, or `one`.
    ///   - pauseMicroseconds: between two of them.
    /// - Returns: what every contender gives, up to the last PUBACK; how many were `handled` a second, up to the last handler's
    ///   call; the gateway's `wakeUps` a message. The kernel tells `cpu` precisely, and how it divides into `user` and `system` in hundredths of a second; `peak` is that since the gateway's start.
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

    /// How long the agents take to stop in good order.
    func stop() throws -> Double {
        self.process.endInput()
        guard let seconds = self.process.nextLine().map(fields)?["stopped"], self.process.wait().succeeded else {
            throw ChildProcess.Failure(description: "the gateway did not stop")
        }
        return seconds
    }
}

extension ChildProcess {
    /// What the program says about a line of its input.
    func answer(to line: String) throws -> Sample {
        self.say(line)
        return try self.nextAnswer()
    }

    fileprivate func nextAnswer() throws -> Sample {
        guard let answer = self.nextLine() else { throw Failure(description: "no answer") }
        return fields(of: answer)
    }
}
