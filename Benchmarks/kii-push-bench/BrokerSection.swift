import Dispatch
import Glibc
import KiiPushCore
import KiiPushEmulator

/// Receivers behind a real mosquitto. The broker is the bottleneck, so the section compares the receivers' costs.
enum BrokerSection {
    private static let ours = "KiiPushCore's agent"

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let agent = Receiver(name: self.ours) { run in
            let directory = try AgentReceiver.makeStateDirectory(in: bench.folder, port: run.port)
            return bench.own(["agent", "memory", directory, "\(run.count)"])
        }
        let count = bench.scaled(100_000)
        for qos in [0, 1] {
            let results = try report.compare(
                "through mosquitto, QoS \(qos), 200 B, agent with its inbox in memory",
                ([agent] + bench.peers).map { receiver in
                    Contender(name: receiver.name, count: count) {
                        try self.sample(bench, receiver, count: count, qos: qos)
                    }
                },
                repetitions: bench.repetitions
            )
            self.report(results, qos: qos, into: &report)
        }
        try self.compareWebSocket(bench, count: count, into: &report)
    }

    /// Compares the agent behind two proxies: one passes TCP on, the other one takes MQTT out of a WebSocket.
    private static func compareWebSocket(_ bench: Workbench, count: Int, into report: inout Report) throws {
        let title = "through mosquitto and a proxy, QoS 1, 200 B, through a WebSocket"
        let contenders = [BrokerTransport.tcp, .webSocket].map { transport in
            let agent = Receiver(name: transport.text) { run in
                let directory = try AgentReceiver.makeStateDirectory(
                    in: bench.folder, port: run.port, isWebSocket: transport == .webSocket)
                return bench.own(["agent", "memory", directory, "\(run.count)"])
            }
            return Contender(name: agent.name, count: count) {
                try self.sample(bench, agent, count: count, qos: 1, behind: transport)
            }
        }
        let results = try report.compare(title, isPlotted: false, contenders, repetitions: bench.repetitions)
        let (ours, plain) = (results[BrokerTransport.webSocket.text, "cpu"], results[BrokerTransport.tcp.text, "cpu"])
        report.add(
            "\(title), user + system CPU a message",
            ours: Shown.microseconds(ours),
            against: "TCP \(Shown.microseconds(plain))",
            ratio: Shown.ratio(ours / plain),
            target: "<= 1.3x",
            reached: ours / plain <= 1.3
        )
    }

    private static func report(_ results: Results, qos: Int, into report: inout Report) {
        func pair(_ name: String) -> (Figure, Figure) {
            (results[self.ours, name], results[Workbench.mosquittoSub, name])
        }
        let (rate, peerRate) = pair("rate")
        report.add(
            "through mosquitto, QoS \(qos), memory inbox",
            ours: Shown.rate(rate),
            against: "mosquitto_sub \(Shown.rate(peerRate))",
            ratio: Shown.ratio(rate / peerRate),
            target: "never the bottleneck (>= 0.9x)",
            reached: rate / peerRate >= 0.9,
            headline: "messages through mosquitto, inbox in memory, QoS \(qos)"
        )
        let (cpu, peerCPU) = pair("cpu")
        report.add(
            "  user + system CPU a message, QoS \(qos)",
            ours: Shown.microseconds(cpu),
            against: "mosquitto_sub \(Shown.microseconds(peerCPU))",
            ratio: Shown.ratio(cpu / peerCPU),
            target: "<= 1x",
            reached: cpu / peerCPU <= 1,
            headline: "processor time a message, the same"
        )
    }

    /// - Parameter transport: the transport to a proxy in front of the broker; `nil` without a proxy.
    private static func sample(
        _ bench: Workbench, _ receiver: Receiver, count: Int, qos: Int, behind transport: BrokerTransport? = nil
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
            log_dest stderr
            log_type subscribe

            """,
            to: configuration
        )
        // `timeout` ends the broker if a receiver never subscribes.
        let broker = try ChildProcess(["timeout", "240", "mosquitto", "-c", configuration], readsErrors: true)
        let relay = try transport.map { transport in try PacketProxy([transport], observer: Relay()) }
        let receiverPort = relay.flatMap { relay in transport.map { Int(relay.port(for: $0)) } } ?? port
        defer {
            relay?.stop()
            broker.end()
            Workbench.remove("\(bench.folder)/agent-\(receiverPort)")
        }
        try waitUntilListening(port)
        if let relay, let brokerPort = UInt16(exactly: port) {
            let isReady = DispatchSemaphore(value: 0)
            Task {
                await relay.forward(to: brokerPort)
                isReady.signal()
            }
            isReady.wait()
        }
        let command = try receiver.command(.init(port: receiverPort, count: count, qos: qos))
        let subscriber = try MeasuredProcess(command, bench, discardsOutput: receiver.discardsOutput)
        // Only our receiver prints that it has subscribed; the broker logs the subscription of every receiver.
        while let line = broker.nextLine(), !line.contains(bytesOf: Workbench.topic) { continue }
        let start = monotonicSeconds()
        let publisher = try ChildProcess(
            [bench.program("flood"), "\(port)", Workbench.topic, bench.smallPayload, "\(count)", "\(qos)"]
        )
        let outcome = try subscriber.finish(count: count)
        let seconds = monotonicSeconds() - start
        guard publisher.wait().succeeded else {
            throw ChildProcess.Failure(description: "the publisher failed")
        }
        var sample = outcome.usage
        sample["rate"] = Double(count) / seconds
        return sample
    }
}

private final class Relay: ProxyObserver {
    func connected() -> Int { 0 }
    func ended(_ connection: Int, byCut: Bool) {}
    func passed(_ packet: ProxyPacket, _ direction: Direction, connection: Int, copies: Int) {}
}
