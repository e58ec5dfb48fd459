import Glibc

/// A gateway that runs, and the broker that holds its connections.
final class Gateway {
    let count: Int
    private let hold: ChildProcess
    private let process: ChildProcess
    private let directory: String
    private var handled = 0
    /// From the first connection to the last subscription.
    let connectSeconds: Double
    /// The same, in the gateway's CPU time, from its start on.
    let connectCPUSeconds: Double

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
        self.hold = try ChildProcess([bench.program("hold"), payload ?? bench.smallPayload] + keys, takesInput: true)
        let port = try self.hold.port()
        self.directory = try GatewayReceiver.makeStateDirectory(
            in: bench.folder, port: port, count: count, hasRun: !isFirst)
        let authority = isEncrypted ? [bench.certificate] : []
        self.process = try ChildProcess(
            bench.own(["gateway", inbox, self.directory, "\(count)"] + authority), takesInput: true)
        let answer = try self.hold.answer(to: "wait \(count)")
        self.connectSeconds = answer["seconds"] ?? .nan
        self.connectCPUSeconds = Threads(of: self.process.pid).runSeconds
    }

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
    /// - Returns: what every contender gives, and the gateway's `wakeUps` a message. The kernel tells `cpu` precisely, and
    ///   how it divides into `user` and `system` in hundredths of a second; `peak` is that since the gateway's start.
    func receive(_ count: Int, by receivers: String, pauseMicroseconds: Int = 0) throws -> Sample {
        let (before, timesBefore) = (self.threads, processTimes(of: self.process.pid))
        let answer = try self.hold.answer(to: "send \(count) \(receivers) \(pauseMicroseconds)")
        self.handled += count
        _ = try self.process.answer(to: "\(self.handled)")
        let used = self.threads.since(before)
        let times = processTimes(of: self.process.pid)
        let (messages, seconds) = (Double(count), answer["seconds"] ?? .nan)
        return [
            "rate": messages / seconds, "wall": seconds, "cpu": used.runSeconds / messages,
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
    fileprivate func answer(to line: String) throws -> Sample {
        self.say(line)
        guard let answer = self.nextLine() else { throw Failure(description: "no answer to \(line)") }
        return fields(of: answer)
    }
}
