import Glibc

/// The shipped tool as people use it, `listen --json` with its output piped on, against the blast over TLS.
enum ListenSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        let (many, few) = (bench.scaled(200_000), bench.scaled(100_000))
        let inboxes = [
            (name: "memory inbox, QoS 0", qos: 0, options: ["--in-memory"], count: many, target: 50_000.0),
            (name: "memory inbox, QoS 1", qos: 1, options: ["--in-memory"], count: few, target: 50_000.0),
            (name: "file inbox, QoS 1", qos: 1, options: [], count: few, target: 20_000.0),
        ]
        let peers = [0, 1].map { qos in
            Contender(name: "peer \(qos)") { try self.peer(qos: qos, count: many, bench) }
        }
        let medians = try interleaved(
            inboxes.map { inbox in
                Contender(name: inbox.name) {
                    try self.listen(inbox.options, qos: inbox.qos, count: inbox.count, bench)
                }
            } + peers,
            repetitions: bench.repetitions
        )
        for inbox in inboxes {
            let (ours, peer) = (medians[inbox.name] ?? [:], medians["peer \(inbox.qos)"] ?? [:])
            let rate = ours["rate"] ?? 0
            table.add(
                "listen --json | cat over TLS, 200 B, \(inbox.name)",
                ours: Shown.rate(rate),
                against: "mosquitto_sub -F %j | cat \(Shown.rate(peer["rate"] ?? 0))",
                ratio: Shown.ratio(rate / (peer["rate"] ?? .nan)),
                target: ">= \(Shown.rate(inbox.target))",
                reached: rate >= inbox.target
            )
        }
    }

    private static func listen(_ options: [String], qos: Int, count: Int, _ bench: Workbench) throws -> Sample {
        let folder = "\(bench.folder)/listen"
        defer { Workbench.remove(folder) }
        for path in [folder, "\(folder)/profiles"] where mkdir(path, 0o700) != 0 {
            throw ChildProcess.Failure(description: "cannot make \(path)")
        }
        return try self.whole(qos: qos, count: count, bench) { port in
            let profile = try AgentReceiver.makeStateDirectory(in: "\(folder)/profiles", port: port)
            try write(
                """
                {"version":1,"cloud":{"kind":"kii","baseURL":"http://127.0.0.1:9/api","appID":"bench"},
                "account":{"kind":"pseudoUser"}}
                """,
                to: "\(profile)/profile.json")
            let words = ["listen", "-p", "agent-\(port)", "--cacert", bench.certificate, "-n", "\(count)", "--json"]
            return ["env", "HOME=\(folder)", "STATE_DIRECTORY=\(folder)", "KII_PUSH_APP_KEY=key"]
                + self.piped([bench.program("kii-push")] + words + options)
        }
    }

    private static func peer(qos: Int, count: Int, _ bench: Workbench) throws -> Sample {
        try self.whole(qos: qos, count: count, bench) { port in
            self.piped(bench.mosquittoSub(port: port, count: count, qos: qos, isEncrypted: true) + ["-F", "%j"])
        }
    }

    /// A run whose rate is that of its output: what is acknowledged is stored, and not yet shown.
    private static func whole(
        qos: Int, count: Int, _ bench: Workbench, receiver: (_ port: Int) throws -> [String]
    ) throws -> Sample {
        let blast = Workbench.Blast(payload: bench.smallPayload, count: count, qos: qos, isEncrypted: true)
        let sample = try bench.run(blast, receiver: receiver)
        return ["rate": Double(count) / (sample["lived"] ?? .nan)]
    }

    /// The command with `cat` behind it, and with its own exit status.
    private static func piped(_ command: [String]) -> [String] {
        ["bash", "-c", #"set -o pipefail; "$@" 2> /dev/null | cat > /dev/null"#, "listen"] + command
    }
}
