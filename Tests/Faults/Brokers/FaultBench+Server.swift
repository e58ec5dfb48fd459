import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport

extension FaultBench {
    /// Runs `body` on a new bench with a broker outside a cloud. The receiver's session already exists.
    static func with<Result>(
        seed: UInt64, server: BrokerServer, _ body: (FaultBench) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let proxy = try FaultProxy()
            defer { proxy.stop() }
            await proxy.forward(to: server.port)
            let endpoint = server.endpoint(topic: "push/\(UUID().uuidString)", port: proxy.port)
            try await self.subscribe(to: endpoint, .atLeastOnce, port: server.port)
            try AgentStateFixture(endpoint: endpoint).write(to: FaultBench.state(in: directory))
            return try await body(
                FaultBench(
                    proxy: proxy, secureProxy: proxy, directory: directory, endpoint: endpoint, seed: seed,
                    cloud: .nowhere, source: ServerSource(server: server, topic: endpoint.mqttTopic)))
        }
    }
}
