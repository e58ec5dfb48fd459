import KiiPushCore

/// `receive PORT COUNT QOS [CA-FILE | webSocket]`: receives COUNT whole messages from a broker on this machine.
enum ReceiveCommand {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 3, let port = UInt16(arguments[0]), let count = Int(arguments[1]),
            let qos = UInt8(arguments[2]).flatMap(QoS.init)
        else { throw ChildProcess.Failure(description: "usage: receive PORT COUNT QOS [CA-FILE | webSocket]") }
        let isWebSocket = arguments.count > 3 && arguments[3] == "webSocket"
        let authority = arguments.count > 3 && !isWebSocket ? arguments[3] : nil
        let loop = try EventLoop(configuration: .init(tls: TLSConfiguration(caFile: authority)))
        let target: StreamTarget =
            if isWebSocket { .webSocket(host: "127.0.0.1", port: port, usesTLS: false) } else if authority == nil {
                .tcp(host: "127.0.0.1", port: port)
            } else { .tls(host: "localhost", port: port) }
        var configuration = MQTTSession.Configuration(clientID: "raw", topicFilter: Workbench.topic)
        configuration.requestedQoS = qos
        configuration.cleanSession = true
        let receiver = try await loop.run { [configuration] in
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
