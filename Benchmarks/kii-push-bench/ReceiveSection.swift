/// Receivers against the blast: no broker is in it, so what is measured is the receiver.
enum ReceiveSection {
    private struct Kind {
        var name: String
        var qos: Int
        var isEncrypted: Bool
        var count: Int
        var target: Double
    }

    private static let kinds = [
        Kind(name: "QoS 0", qos: 0, isEncrypted: false, count: 4_000_000, target: 20),
        Kind(name: "QoS 1 with PUBACK", qos: 1, isEncrypted: false, count: 2_000_000, target: 10),
        Kind(name: "QoS 0 over TLS", qos: 0, isEncrypted: true, count: 2_000_000, target: 3),
    ]

    static func run(_ bench: Workbench, into table: inout Table) throws {
        for kind in self.kinds {
            let medians = try interleaved(
                self.contenders(for: kind, bench: bench),
                repetitions: bench.repetitions
            )
            let (ours, peer, floor) = (medians["ours"] ?? [:], medians["peer"] ?? [:], medians["floor"] ?? [:])
            let ratio = (ours["rate"] ?? 0) / (peer["rate"] ?? .nan)
            table.add(
                "receive, \(kind.name), 200 B, whole messages",
                ours: Shown.rate(ours["rate"] ?? 0),
                against: "mosquitto_sub \(Shown.rate(peer["rate"] ?? 0))",
                ratio: Shown.ratio(ratio),
                target: ">= \(Shown.decimals(kind.target, 0))x",
                reached: ratio >= kind.target
            )
            table.add(
                "  the same",
                ours: Shown.rate(ours["rate"] ?? 0),
                against: "C read loop \(Shown.rate(floor["rate"] ?? 0))",
                ratio: Shown.ratio((ours["rate"] ?? 0) / (floor["rate"] ?? .nan))
            )
            table.add(
                "  user + system CPU a message",
                ours: Shown.microseconds(ours["cpu"] ?? 0),
                against: "mosquitto_sub \(Shown.microseconds(peer["cpu"] ?? 0))",
                ratio: Shown.ratio((ours["cpu"] ?? .nan) / (peer["cpu"] ?? .nan))
            )
        }
    }

    private static func contenders(for kind: Kind, bench: Workbench) -> [Contender] {
        let authority = kind.isEncrypted ? [bench.certificate] : []
        // mosquitto_sub is given a tenth, so that its runs take as long as the others'.
        var blast = Workbench.Blast(
            payload: bench.smallPayload,
            count: bench.scaled(kind.count),
            qos: kind.qos,
            isEncrypted: kind.isEncrypted
        )
        let (many, few) = (blast, blast.count / 10)
        blast.count = few
        let small = blast
        return [
            Contender(name: "floor") {
                try bench.run(many) { port in
                    [bench.program("floor"), "\(port)", "\(many.count)", "-q", "\(kind.qos)"]
                        + (kind.isEncrypted ? ["-k", bench.certificate] : [])
                }
            },
            Contender(name: "ours") {
                try bench.run(many) { port in
                    bench.own(["receive", "\(port)", "\(many.count)", "\(kind.qos)"] + authority)
                }
            },
            Contender(name: "peer") {
                try bench.run(small) { port in
                    bench.mosquittoSub(port: port, count: few, qos: kind.qos, isEncrypted: kind.isEncrypted)
                }
            },
        ]
    }
}
