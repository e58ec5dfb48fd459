import Foundation
package import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// What a scenario is played on: a cloud with its broker, a proxy in front of the broker, and a user who receives.
package final class FaultBench: Sendable {
    package let emulator: Emulator
    package let proxy: FaultProxy
    /// Everything's place, removed afterwards.
    package let directory: String
    /// The receiver's state, where it is one of ours.
    package let state: String
    /// Where the receiver connects: to the proxy.
    package let endpoint: MQTTEndpoint
    package let userID: String
    package let seed: UInt64
    private let sender: Sender

    /// Runs `body` on a bench of its own.
    ///
    /// The user's MQTT session stands already, so what is sent waits at the broker until the receiver comes.
    ///
    /// - Parameter qos: what the session subscribes with, and what messages are delivered with then.
    package static func with<Result>(
        seed: UInt64, qos: QoS = .atLeastOnce, _ body: (FaultBench) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let proxy = try FaultProxy()
            defer { proxy.stop() }
            var configuration = Emulator.Configuration()
            configuration.directory = directory + "/emulator"
            configuration.brokerPersistence = .everySecond
            configuration.advertisedMQTTPort = proxy.port
            configuration.upgradesQoS = qos == .exactlyOnce
            let emulator = try await Emulator.start(configuration)
            proxy.forward(to: emulator.mqttPort)
            do {
                let bench = try await FaultBench(emulator: emulator, proxy: proxy, directory: directory, seed: seed)
                // The agent, which registered, asks for no more than QoS 1.
                if qos == .exactlyOnce { try await bench.subscribe(qos) }
                let result = try await body(bench)
                await emulator.stop()
                return result
            } catch {
                await emulator.stop()
                throw error
            }
        }
    }

    private init(emulator: Emulator, proxy: FaultProxy, directory: String, seed: UInt64) async throws {
        self.emulator = emulator
        self.proxy = proxy
        self.directory = directory
        self.seed = seed
        self.state = "\(directory)/state"
        let runtime = try emulator.runtime(self.state)
        var configuration = PushAgent.Configuration(app: emulator.app, account: .pseudoUser)
        configuration.usesTLS = false
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
        let registration = try await agent.register()
        self.userID = registration.principal.id
        self.endpoint = try await agent.client.mqttEndpoint(
            of: registration.installationID, token: try await agent.accessToken().token)
        await runtime.shutdown()
        self.sender = try await Sender(emulator: emulator, userID: registration.principal.id)
    }

    /// Subscribes anew in the user's session.
    private func subscribe(_ qos: QoS) async throws {
        let (port, endpoint) = (self.emulator.mqttPort, self.endpoint)
        try await onThread {
            let client = try PlainClient(
                port: port, clientID: endpoint.mqttTopic, cleanSession: false, username: endpoint.username,
                password: endpoint.password)
            guard try client.subscribe(to: endpoint.mqttTopic, qos) == qos else {
                throw FaultError("the broker does not grant QoS \(qos.rawValue)")
            }
            try client.disconnect()
        }
    }

    /// Our agent as the receiver.
    package func agent(_ settings: AgentReceiver.Settings = .init()) -> AgentReceiver {
        AgentReceiver(
            settings, emulator: self.emulator, state: self.state, directory: self.directory, seed: self.seed)
    }

    /// Sends a direct push `{"n": number}` for each number, and returns those that the broker has acknowledged.
    package func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await self.sender.send(numbers)
    }

    /// Publishes these payloads as they are; `true` when the broker has acknowledged all.
    package func publish(_ payloads: [[UInt8]]) async -> Bool {
        await self.emulator.publish(payloads, on: self.endpoint.mqttTopic)
    }
}
