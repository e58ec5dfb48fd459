/// Receivers against the blast. No broker takes part, so the section measures the receivers alone.
enum ReceiveSection {
    private struct Kind {
        var name: String
        var qos: Int
        var isEncrypted: Bool
        var count: Int
        var target: Double
    }

    static let ours = "KiiPushCore"
    private static let floor = "C read loop"

    private static let kinds = [
        Kind(name: "QoS 0", qos: 0, isEncrypted: false, count: 4_000_000, target: 20),
        Kind(name: "QoS 1 with PUBACK", qos: 1, isEncrypted: false, count: 2_000_000, target: 10),
        Kind(name: "QoS 0 over TLS", qos: 0, isEncrypted: true, count: 2_000_000, target: 3),
    ]

    static func run(_ bench: Workbench, into report: inout Report) throws {
        for kind in self.kinds {
            let results = try report.compare(
                "receive, \(kind.name), 200 B, whole messages",
                isPlotted: true,
                self.receivers(bench).map { self.contender($0, kind, bench) },
                repetitions: bench.repetitions
            )
            let (ours, peer) = (results[self.ours, "rate"], results[Workbench.mosquittoSub, "rate"])
            report.add(
                "receive, \(kind.name), 200 B, whole messages",
                ours: Shown.rate(ours),
                against: "mosquitto_sub \(Shown.rate(peer))",
                ratio: Shown.ratio(ours / peer),
                target: ">= \(Shown.decimals(kind.target, 0))x",
                reached: ours / peer >= kind.target
            )
            let floor = results[self.floor, "rate"]
            report.add(
                "  the same",
                ours: Shown.rate(ours),
                against: "C read loop \(Shown.rate(floor))",
                ratio: Shown.ratio(ours / floor)
            )
            let (cpu, peerCPU) = (results[self.ours, "cpu"], results[Workbench.mosquittoSub, "cpu"])
            report.add(
                "  user + system CPU a message",
                ours: Shown.microseconds(cpu),
                against: "mosquitto_sub \(Shown.microseconds(peerCPU))",
                ratio: Shown.ratio(cpu / peerCPU)
            )
        }
        try self.compareWebSocket(bench, into: &report)
    }

    /// Compares the same messages through a WebSocket, each in a frame of its own, and through plain TCP.
    private static func compareWebSocket(_ bench: Workbench, into report: inout Report) throws {
        let title = "receive, QoS 1 with PUBACK, 200 B, through a WebSocket"
        let contenders = ["TCP", "WebSocket"].map { name in
            let isWebSocket = name == "WebSocket"
            let blast = Blast(
                payload: bench.smallPayload, count: bench.scaled(2_000_000), qos: 1, isWebSocket: isWebSocket)
            return Contender(name: name, count: blast.count) {
                try bench.run(blast) { port in
                    bench.own(["receive", "\(port)", "\(blast.count)", "1"] + (isWebSocket ? ["webSocket"] : []))
                }
            }
        }
        let results = try report.compare(title, isPlotted: false, contenders, repetitions: bench.repetitions)
        let (ours, plain) = (results["WebSocket", "rate"], results["TCP", "rate"])
        report.add(
            title,
            ours: Shown.rate(ours),
            against: "TCP \(Shown.rate(plain))",
            ratio: Shown.ratio(ours / plain),
            target: ">= 0.5x",
            reached: ours / plain >= 0.5
        )
    }

    /// The read loop in C, our receiver, and the peers.
    private static func receivers(_ bench: Workbench) -> [Receiver] {
        let floor = Receiver(name: self.floor) { run in
            [bench.program("floor"), "\(run.port)", "\(run.count)", "-q", "\(run.qos)"]
                + (run.isEncrypted ? ["-k", bench.certificate] : [])
        }
        let ours = Receiver(name: self.ours) { run in
            bench.own(["receive", "\(run.port)", "\(run.count)", "\(run.qos)"])
                + (run.isEncrypted ? [bench.certificate] : [])
        }
        return [floor, ours] + bench.peers
    }

    private static func contender(_ receiver: Receiver, _ kind: Kind, _ bench: Workbench) -> Contender {
        let blast = Blast(
            payload: bench.smallPayload,
            count: bench.scaled(kind.count / receiver.share),
            qos: kind.qos,
            isEncrypted: kind.isEncrypted
        )
        return Contender(name: receiver.name, count: blast.count) {
            try bench.run(blast, discardsOutput: receiver.discardsOutput) { port in
                try receiver.command(
                    .init(port: port, count: blast.count, qos: kind.qos, isEncrypted: kind.isEncrypted))
            }
        }
    }
}
