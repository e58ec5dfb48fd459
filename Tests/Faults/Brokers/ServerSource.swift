import TestSupport

/// A broker without a cloud. Messages are published as the cloud would publish them.
struct ServerSource: MessageSource {
    let server: BrokerServer
    let topic: String

    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        guard await self.publish(numbers.map { Array("{\"n\":\($0)}".utf8) }, on: nil) else { return [] }
        return Set(numbers)
    }

    func publish(_ payloads: [[UInt8]], on topic: String?) async -> Bool {
        let (server, topic) = (self.server, topic ?? self.topic)
        do {
            try await onThread {
                let publisher = try server.client("kii-publisher", cleanSession: true)
                try publisher.publish(payloads, on: topic)
                try publisher.disconnect()
            }
            return true
        } catch {
            return false
        }
    }

    func brokerKiller() throws -> @Sendable () -> Void {
        { [server] in server.signalKill() }
    }

    // Includes a reserve for a busy machine.
    var redeliversAfter: Duration { self.server.kind == .nats ? .seconds(60) : .zero }

    func restartBroker() async throws {
        await self.server.kill()
        try await self.server.start()
    }
}
