import Foundation
package import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// What a scenario is played on: a cloud with its broker, a proxy in front of the broker, and a user who receives.
package final class FaultBench: Sendable {
    package let proxy: FaultProxy
    /// The same for TLS, where it can see nothing.
    package let secureProxy: FaultProxy
    /// Everything's place, removed afterwards.
    package let directory: String
    /// The receiver's state, where it is one of ours.
    package let state: String
    /// Where the receiver connects: to the proxy.
    package let endpoint: MQTTEndpoint
    package let seed: UInt64
    /// What the receiver's state is on, where that is ``Disk/forgetful``.
    let powerDisk: PowerDisk?
    private let usesWebSocket: Bool
    private let cloud: AgentReceiver.Cloud
    private let source: any MessageSource

    /// What the receiver's state is on.
    package enum Disk: Sendable {
        /// The directory of all the rest.
        case ordinary
        /// A file system of its own with so many megabytes (of 2^20 bytes), where one may be mounted.
        case small(megabytes: Int)
        /// One whose power can be cut.
        case forgetful
    }

    /// How a bench is set up.
    package struct Setup: Sendable {
        package var disk = Disk.ordinary
        package var persistence = BrokerPersistence.everySecond
        /// What the session subscribes with, and what messages are delivered with then.
        package var qos = QoS.atLeastOnce
        /// Whether our agent connects through a WebSocket.
        package var usesWebSocket = false

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
                // The agent, which registered, asks for no more than QoS 1.
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

    /// Registers a user who receives.
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

    /// Opens the session of an endpoint, or subscribes anew in it.
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

    /// Our agent as the receiver.
    ///
    /// - Parameter state: its state directory; `nil` for that of the user who receives.
    package func agent(_ settings: AgentReceiver.Settings = .init(), state: String? = nil) -> AgentReceiver {
        var settings = settings
        settings.usesWebSocket = self.usesWebSocket
        return AgentReceiver(
            settings, cloud: self.cloud, state: state ?? self.state, on: self.powerDisk, directory: self.directory,
            seed: self.seed)
    }

    /// Takes all the space that the small disk has left.
    func fillDisk() throws { try SmallDisk.fill(self.state) }

    /// Gives that space back.
    func freeDisk() throws { try SmallDisk.free(self.state) }

    /// Sends a direct push `{"n": number}` for each number, and returns those that the broker has acknowledged.
    package func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await self.source.send(numbers)
    }

    /// Publishes these payloads as they are, to the receiver or on another topic; `true` when the broker has acknowledged
    /// all.
    package func publish(_ payloads: [[UInt8]], on topic: String? = nil) async -> Bool {
        await self.source.publish(payloads, on: topic)
    }

    /// Ends the broker with SIGKILL. It is started again with what it kept, though it may take a while.
    func killBroker() async throws {
        try self.source.brokerKiller()()
        try await self.source.restartBroker()
    }

    /// What ends the broker with SIGKILL, at once and from any thread; it has to be started again then.
    func brokerKiller() throws -> @Sendable () -> Void { try self.source.brokerKiller() }

    /// Starts a broker that was killed with what it kept, though it may take a while.
    func restartBroker() async throws { try await self.source.restartBroker() }

    /// How late the broker sends again what was not acknowledged, while what is new comes at once.
    var redeliversAfter: Duration { self.source.redeliversAfter }
}
