import Glibc

/// Through a real mosquitto: the broker is the bottleneck there, and what is compared is what a receiver costs.
enum BrokerSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        for qos in [0, 1] {
            let count = bench.scaled(100_000)
            let medians = try interleaved(
                [
                    Contender(name: "ours") {
                        try self.sample(bench, count: count, qos: qos) { port in
                            let directory = try AgentReceiver.makeStateDirectory(in: bench.folder, port: port)
                            return bench.own(["agent", "memory", directory, "\(count)"])
                        }
                    },
                    Contender(name: "mosquitto_sub") {
                        try self.sample(bench, count: count, qos: qos) { port in
                            bench.mosquittoSub(port: port, count: count, qos: qos)
                        }
                    },
                ],
                repetitions: bench.repetitions
            )
            let (ours, peer) = (medians["ours"] ?? [:], medians["mosquitto_sub"] ?? [:])
            let rate = (ours["rate"] ?? 0) / (peer["rate"] ?? .nan)
            table.add(
                "through mosquitto, QoS \(qos), memory inbox",
                ours: Shown.rate(ours["rate"] ?? 0),
                against: "mosquitto_sub \(Shown.rate(peer["rate"] ?? 0))",
                ratio: Shown.ratio(rate),
                target: "never the bottleneck (>= 0.9x)",
                reached: rate >= 0.9
            )
            let user = (ours["user"] ?? .nan) / (peer["user"] ?? .nan)
            table.add(
                "  user CPU a message, QoS \(qos)",
                ours: Shown.microseconds(ours["user"] ?? 0),
                against: "mosquitto_sub \(Shown.microseconds(peer["user"] ?? 0))",
                ratio: Shown.ratio(user),
                target: "<= 1x",
                reached: user <= 1
            )
            table.add(
                "  user + system CPU a message, QoS \(qos)",
                ours: Shown.microseconds(ours["cpu"] ?? 0),
                against: "mosquitto_sub \(Shown.microseconds(peer["cpu"] ?? 0))",
                ratio: Shown.ratio((ours["cpu"] ?? .nan) / (peer["cpu"] ?? .nan))
            )
        }
    }

    private static func sample(
        _ bench: Workbench,
        count: Int,
        qos: Int,
        receiver: (_ port: Int) throws -> [String]
    ) throws -> Sample {
        let port = try freePort()
        let configuration = bench.program("mosquitto.conf")
        try write(
            """
            listener \(port) 127.0.0.1
            allow_anonymous true
            max_inflight_messages 0
            max_queued_messages 0
            set_tcp_nodelay true
            log_dest none

            """,
            to: configuration
        )
        let broker = try ChildProcess(["mosquitto", "-c", configuration])
        defer {
            broker.end()
            Workbench.remove("\(bench.folder)/agent-\(port)")
        }
        try waitUntilListening(port)
        let subscriber = try ChildProcess(["timeout", "-k", "5", "120"] + (try receiver(port)))
        usleep(500_000)  // mosquitto_sub does not say when it has subscribed
        let start = monotonicSeconds()
        let publisher = try ChildProcess(
            [bench.program("flood"), "\(port)", "bench/0123456789abcd", bench.smallPayload, "\(count)", "\(qos)"]
        )
        let usage = subscriber.wait()
        let seconds = monotonicSeconds() - start
        guard publisher.wait().succeeded, usage.succeeded else {
            throw ChildProcess.Failure(description: "the run through mosquitto lost messages")
        }
        let messages = Double(count)
        return [
            "rate": messages / seconds, "cpu": usage.cpuSeconds / messages, "user": usage.userSeconds / messages,
        ]
    }
}
