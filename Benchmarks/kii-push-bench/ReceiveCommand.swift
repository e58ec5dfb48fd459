import KiiPushCore

/// `receive raw PORT COUNT QOS [CA-FILE]`: receives from a broker on this machine until COUNT messages have come.
enum ReceiveCommand {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 4, let port = UInt16(arguments[1]), let count = Int(arguments[2]),
            let qos = UInt8(arguments[3]).flatMap(QoS.init)
        else { throw ChildProcess.Failure(description: "usage: receive raw|memory|file PORT COUNT QOS [CA-FILE]") }
        let authority = arguments.count > 4 ? arguments[4] : nil
        switch arguments[0] {
        case "raw": try await self.raw(port: port, count: count, qos: qos, authority: authority)
        default: throw ChildProcess.Failure(description: "no receiver '\(arguments[0])'")
        }
    }

    private static func raw(port: UInt16, count: Int, qos: QoS, authority: String?) async throws {
        let loop = try EventLoop(configuration: .init(tls: TLSConfiguration(caFile: authority)))
        let target: StreamTarget =
            authority == nil ? .tcp(host: "127.0.0.1", port: port) : .tls(host: "localhost", port: port)
        let configuration = MQTTSession.Configuration(
            clientID: "raw",
            topicFilter: "bench/0123456789abcd",
            requestedQoS: qos,
            cleanSession: true
        )
        let receiver = try await loop.run {
            LoopIsolated(
                confining: RawReceiver(loop: loop, target: target, configuration: configuration, count: count),
                to: loop
            )
        }
        let _: Void = try await withCheckedThrowingContinuation { continuation in
            loop.submit { receiver.value.whenDone { continuation.resume(with: $0) } }
        }
        loop.shutdown()
    }
}
