import Foundation
package import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// The setting of a scenario: a cloud with its broker, a proxy in front of the broker, and a receiving user.
package final class FaultBench: Sendable {
    package let proxy: FaultProxy
    /// The proxy for TLS connections, whose packets it cannot read.
    package let secureProxy: FaultProxy
    /// The folder of all files of the bench, removed at its end.
    package let directory: String
    /// The state directory of this project's agent.
    package let state: String
    /// The receiver's endpoint, which is the proxy.
    package let endpoint: MQTTEndpoint
    package let seed: UInt64
    /// The disk with the receiver's state, if it is ``Disk/forgetful``.
    let powerDisk: PowerDisk?
    private let usesWebSocket: Bool
    private let cloud: AgentReceiver.Cloud
    private let source: any MessageSource

    package enum Disk: Sendable {
        /// The bench's folder.
        case ordinary
        /// A separate file system of this size (megabytes of 2^20 bytes), if this process may mount one.
        case small(megabytes: Int)
        /// A disk whose power a scenario can cut.
        case forgetful
    }

    package struct Setup: Sendable {
        package var disk = Disk.ordinary
        package var persistence = BrokerPersistence.everySecond
        /// QoS of the subscription, and so of the deliveries.
        package var qos = QoS.atLeastOnce
        package var usesWebSocket = false

        package init() {}
    }

    package static var canMount: Bool { geteuid() == 0 }

    /// Runs `body` on a new bench.
    ///
    /// The user's MQTT session already exists, so the broker keeps messages until the receiver connects.
    package static func with<Result>(
        seed: UInt64, setup: Setup = .init(), _ body: (FaultBench) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            var smallDisk: SmallDisk?
            if case .small(let megabytes) = setup.disk, self.canMount {
                smallDisk = try SmallDisk(at: FaultBench.state(in: directory), megabytes: megabytes)
            }
            defer { smallDisk?.unmount() }
            var powerDisk: PowerDisk?
            if case .forgetful = setup.disk {
                powerDisk = try await PowerDisk(at: FaultBench.state(in: directory), in: directory, seed: seed)
            }
            defer { powerDisk?.turnOff() }
            let (proxy, secureProxy) = (try FaultProxy(), try FaultProxy())
            defer {
                proxy.stop()
                secureProxy.stop()
            }
            var configuration = Emulator.Configuration.patient(in: directory)
            configuration.brokerPersistence = setup.persistence
            configuration.advertisedBrokerPorts = BrokerPorts(
                tcp: proxy.port, tls: secureProxy.port, webSocket: proxy.port(for: .webSocket),
                webSocketTLS: secureProxy.port)
            configuration.upgradesQoS = setup.qos == .exactlyOnce
            let emulator = try await Emulator.start(configuration)
            await proxy.forward(to: emulator.mqttPort)
            await secureProxy.forward(to: setup.usesWebSocket ? emulator.webSocketTLSPort : emulator.mqttTLSPort)
            do {
                let bench = try await FaultBench(
                    emulator: emulator, proxy: proxy, secureProxy: secureProxy, directory: directory, seed: seed,
                    usesWebSocket: setup.usesWebSocket, powerDisk: powerDisk)
                // The agent, which registered, subscribes with QoS 1 at most.
                if setup.qos == .exactlyOnce {
                    try await self.subscribe(to: bench.endpoint, setup.qos, port: emulator.mqttPort)
                }
                let result = try await body(bench)
                try await powerDisk?.verify()
                await emulator.stop()
                return result
            } catch {
                await emulator.stop()
                throw error
            }
        }
    }

    init(
        proxy: FaultProxy, secureProxy: FaultProxy, directory: String, endpoint: MQTTEndpoint, seed: UInt64,
        usesWebSocket: Bool = false, cloud: AgentReceiver.Cloud, source: any MessageSource, powerDisk: PowerDisk? = nil
    ) {
        self.usesWebSocket = usesWebSocket
        self.powerDisk = powerDisk
        self.proxy = proxy
        self.secureProxy = secureProxy
        self.directory = directory
        self.state = FaultBench.state(in: directory)
        self.endpoint = endpoint
        self.seed = seed
        self.cloud = cloud
        self.source = source
    }

    static func state(in directory: String) -> String { "\(directory)/state" }

    private convenience init(
        emulator: Emulator, proxy: FaultProxy, secureProxy: FaultProxy, directory: String, seed: UInt64,
        usesWebSocket: Bool, powerDisk: PowerDisk?
    ) async throws {
        let runtime = try emulator.runtime(FaultBench.state(in: directory))
        var configuration = PushAgent.Configuration(app: emulator.app, account: .pseudoUser)
        configuration.usesTLS = false
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
        let registration = try await agent.register()
        let endpoint = try await agent.client.session(try await agent.session().token().token).mqttEndpoint(
            of: registration.installationID)
        await runtime.shutdown()
        await proxy.forgetTraffic()
        let sender = try await Sender(emulator: emulator, userID: registration.principal.id)
        self.init(
            proxy: proxy, secureProxy: secureProxy, directory: directory, endpoint: endpoint, seed: seed,
            usesWebSocket: usesWebSocket, cloud: AgentReceiver.Cloud(emulator),
            source: EmulatorSource(emulator: emulator, sender: sender, topic: endpoint.mqttTopic),
            powerDisk: powerDisk)
    }

    /// Opens the session of an endpoint, or changes its subscription.
    static func subscribe(to endpoint: MQTTEndpoint, _ qos: QoS, port: UInt16) async throws {
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

    /// This project's agent as the receiver.
    ///
    /// - Parameter state: its state directory; `nil` for the receiving user's.
    package func agent(_ settings: AgentReceiver.Settings = .init(), state: String? = nil) -> AgentReceiver {
        var settings = settings
        settings.usesWebSocket = self.usesWebSocket
        return AgentReceiver(
            settings, cloud: self.cloud, state: state ?? self.state, on: self.powerDisk, directory: self.directory,
            seed: self.seed)
    }

    func fillDisk() throws { try SmallDisk.fill(self.state) }

    func freeDisk() throws { try SmallDisk.free(self.state) }

    package func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await self.source.send(numbers)
    }

    package func publish(_ payloads: [[UInt8]], on topic: String? = nil) async -> Bool {
        await self.source.publish(payloads, on: topic)
    }

    /// Kills the broker with SIGKILL and starts it again with its stored state, which may take a while.
    func killBroker() async throws {
        try self.source.brokerKiller()()
        try await self.source.restartBroker()
    }

    func brokerKiller() throws -> @Sendable () -> Void { try self.source.brokerKiller() }

    func restartBroker() async throws { try await self.source.restartBroker() }

    var redeliversAfter: Duration { self.source.redeliversAfter }
}
