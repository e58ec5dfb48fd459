import Glibc

/// The shipped tool as people use it: `listen --json` into a pipe, against the blast over TLS.
enum ListenSection {
    private struct Kind {
        var inbox: String
        var qos: Int
        var options: [String] = []
        var count: Int
        var target: Double
        var targetName: String

        var name: String { "\(self.inbox), QoS \(self.qos)" }
    }

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let (many, few) = (bench.scaled(200_000), bench.scaled(100_000))
        let memory = ["--in-memory"]
        let kinds = [
            Kind(inbox: "memory inbox", qos: 0, options: memory, count: many, target: 50_000, targetName: ">= 50 k/s"),
            Kind(inbox: "memory inbox", qos: 1, options: memory, count: few, target: 50_000, targetName: ">= 50 k/s"),
            Kind(inbox: "file inbox", qos: 1, count: few, target: 20_000, targetName: ">= 20 k/s"),
        ]
        let ours = kinds.map { kind in
            Contender(name: kind.name, count: kind.count) { try self.listen(kind, bench) }
        }
        let peers = [0, 1].map { qos in
            Contender(name: self.peer(qos), count: many) { try self.peer(qos: qos, count: many, bench) }
        }
        let results = try report.compare(
            "listen --json piped into cat, over TLS, 200 B (cat is counted in)",
            ours + peers,
            repetitions: bench.repetitions
        )
        for kind in kinds {
            let (rate, peer) = (results[kind.name, "rate"], results[self.peer(kind.qos), "rate"])
            report.add(
                "listen --json piped into cat, over TLS, 200 B, \(kind.name)",
                ours: Shown.rate(rate),
                against: "mosquitto_sub -F %j \(Shown.rate(peer))",
                ratio: Shown.ratio(rate / peer),
                target: kind.targetName,
                reached: rate.median >= kind.target
            )
        }
    }

    private static func peer(_ qos: Int) -> String { "mosquitto_sub -F %j, QoS \(qos)" }

    private static func listen(_ kind: Kind, _ bench: Workbench) throws -> Sample {
        let folder = "\(bench.folder)/listen"
        defer { Workbench.remove(folder) }
        for path in [folder, "\(folder)/profiles"] where mkdir(path, 0o700) != 0 {
            throw ChildProcess.Failure(description: "cannot make \(path)")
        }
        return try self.whole(qos: kind.qos, count: kind.count, bench) { port in
            let profile = try AgentReceiver.makeStateDirectory(in: "\(folder)/profiles", port: port)
            try write(
                """
                {"version":1,"cloud":{"kind":"kii","baseURL":"http://127.0.0.1:9/api","appID":"bench"},
                "account":{"kind":"pseudoUser"}}
                """,
                to: "\(profile)/profile.json")
            let options = ["-p", "agent-\(port)", "--cacert", bench.certificate, "-n", "\(kind.count)", "--json"]
            return ["env", "HOME=\(folder)", "STATE_DIRECTORY=\(folder)", "KII_PUSH_APP_KEY=key"]
                + self.piped([bench.program("kii-push"), "listen"] + options + kind.options)
        }
    }

    private static func peer(qos: Int, count: Int, _ bench: Workbench) throws -> Sample {
        try self.whole(qos: qos, count: count, bench) { port in
            let run = Receiver.Run(port: port, count: count, qos: qos, isEncrypted: true)
            return self.piped(bench.mosquittoSub(run) + ["-F", "%j"])
        }
    }

    /// A run whose rate is the rate of the output, because an acknowledged message is stored and may not be printed
    /// yet.
    private static func whole(
        qos: Int, count: Int, _ bench: Workbench, receiver: (_ port: Int) throws -> [String]
    ) throws -> Sample {
        let blast = Blast(payload: bench.smallPayload, count: count, qos: qos, isEncrypted: true)
        var sample = try bench.run(blast, receiver: receiver)
        sample["rate"] = Double(count) / (sample["wall"] ?? .nan)
        return sample
    }

    /// Pipes the command into `cat`, and keeps the command's exit status.
    private static func piped(_ command: [String]) -> [String] {
        ["bash", "-c", #"set -o pipefail; "$@" 2> /dev/null | cat > /dev/null"#, "listen"] + command
    }
}
