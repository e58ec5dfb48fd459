import Foundation
package import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// What a scenario is played on: a cloud with its broker, a proxy in front of the broker, and a user who receives.
package final class FaultBench: Sendable {
    package let emulator: Emulator
    package let proxy: FaultProxy
    /// The same for TLS, where it can see nothing.
    package let secureProxy: FaultProxy
    /// Everything's place, removed afterwards.
    package let directory: String
    /// The receiver's state, where it is one of ours.
    package let state: String
    /// Where the receiver connects: to the proxy.
    package let endpoint: MQTTEndpoint
    package let userID: String
    package let seed: UInt64
    private let sender: Sender

    /// What the receiver's state is on.
    package enum Disk: Sendable {
        /// The directory of all the rest.
        case ordinary
        /// A file system of its own with 2 MiB of space, where one may be mounted.
        case small
    }

    /// How a bench is set up.
    package struct Setup: Sendable {
        package var disk = Disk.ordinary
        package var persistence = BrokerPersistence.everySecond
        /// What the session subscribes with, and what messages are delivered with then.
        package var qos = QoS.atLeastOnce

        package init() {}
    }

    /// Whether a file system may be mounted here, which takes root.
    package static var canMount: Bool { geteuid() == 0 }

    /// Runs `body` on a bench of its own.
    ///
    /// The user's MQTT session stands already, so what is sent waits at the broker until the receiver comes.
    package static func with<Result>(
        seed: UInt64, setup: Setup = .init(), _ body: (FaultBench) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let smallDisk = setup.disk == .small && self.canMount ? try SmallDisk(at: "\(directory)/state") : nil
            defer { smallDisk?.unmount() }
            let (proxy, secureProxy) = (try FaultProxy(), try FaultProxy())
            defer {
                proxy.stop()
                secureProxy.stop()
            }
            var configuration = Emulator.Configuration()
            configuration.directory = directory + "/emulator"
            configuration.brokerPersistence = setup.persistence
            configuration.advertisedBrokerPorts = BrokerPorts(tcp: proxy.port, tls: secureProxy.port)
            configuration.upgradesQoS = setup.qos == .exactlyOnce
            let emulator = try await Emulator.start(configuration)
            proxy.forward(to: emulator.mqttPort)
            secureProxy.forward(to: emulator.mqttTLSPort)
            do {
                let bench = try await FaultBench(
                    emulator: emulator, proxy: proxy, secureProxy: secureProxy, directory: directory, seed: seed)
                // The agent, which registered, asks for no more than QoS 1.
                if setup.qos == .exactlyOnce { try await bench.subscribe(setup.qos) }
                let result = try await body(bench)
                await emulator.stop()
                return result
            } catch {
                await emulator.stop()
                throw error
            }
        }
    }

    private init(
        emulator: Emulator, proxy: FaultProxy, secureProxy: FaultProxy, directory: String, seed: UInt64
    ) async throws {
        self.emulator = emulator
        self.proxy = proxy
        self.secureProxy = secureProxy
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
        await proxy.forgetTraffic()
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

    /// Makes space on the small disk.
    func freeDisk() throws { try SmallDisk.free("\(self.state)") }

    /// Sends a direct push `{"n": number}` for each number, and returns those that the broker has acknowledged.
    package func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await self.sender.send(numbers)
    }

    /// Publishes these payloads as they are; `true` when the broker has acknowledged all.
    package func publish(_ payloads: [[UInt8]]) async -> Bool {
        await self.emulator.publish(payloads, on: self.endpoint.mqttTopic)
    }
}
