import Glibc
public import KiiPushCore

/// A cloud like Kii's on this machine, for one app: HTTP, HTTPS and an MQTT broker on the loopback interface.
///
/// It answers the REST calls that push needs, and delivers messages through mosquitto, which it starts and stops. A
/// send succeeds when the broker has acknowledged the message.
///
/// ```swift
/// let emulator = try await Emulator.start()
/// print(emulator.baseURL, emulator.appID)
/// await emulator.stop()
/// ```
///
/// If the process ends without ``stop()``, mosquitto ends too and keeps its sessions and messages. The next start with
/// the same directory restores them.
public final class Emulator: Sendable {
    /// The settings of an emulator.
    public struct Configuration: Sendable {
        /// The port for HTTP. Default 0: the port of the last start if it is free, or any other.
        public var port: UInt16
        /// The port for HTTPS. Default 0: the port of the last start if it is free, or any other.
        public var httpsPort: UInt16
        /// The broker's port, or the proxy's with ``faultProxy``. Default 0: the port of the last start if it is free,
        /// or any other.
        public var mqttPort: UInt16
        /// The broker's port for TLS. Default 0: the port of the last start if it is free, or any other.
        public var mqttTLSPort: UInt16
        /// The port for MQTT over WebSocket, with the path `/mqtt`. Default 0: the port of the last start if it is
        /// free, or any other.
        public var webSocketPort: UInt16
        /// The port for MQTT over WebSocket and TLS. Default 0: the port of the last start if it is free, or any
        /// other.
        public var webSocketTLSPort: UInt16
        /// The directory for the state, the certificates and the broker's sessions. `nil`, the default, creates a
        /// temporary directory, which ``Emulator/stop()`` removes.
        public var directory: String?
        /// The file for the addresses and credentials that other programs need, mode 0600. ``Emulator/stop()`` removes
        /// it. `nil`, the default, writes no file.
        public var runtimeFile: String?
        /// Whether the emulator is stricter than Kii's cloud. Default: no.
        ///
        /// A strict emulator checks app keys and secrets that Kii's cloud ignores. It refuses subscriptions to missing
        /// buckets, and message data with keys that Kii writes itself.
        public var strict: Bool
        /// The path of the broker's program. `nil`, the default, searches PATH and the standard directories for
        /// `mosquitto`.
        public var mosquittoPath: String?
        /// The time after an installation's creation during which requests for its endpoint get 503 "not ready".
        /// Default none.
        public var endpointDelay: Duration
        /// The lifetime of an MQTT endpoint, counted from the first request for the endpoint. The first request after
        /// its end changes the topic and the credentials. `nil`, the default, means no end. Clients get whole seconds.
        public var mqttTTL: Duration?
        /// The lifetime of a token if the login request names none. `nil`, the default, means no end.
        public var tokenLifetime: Duration?
        /// Whether a login returns a refresh token. Default: yes.
        public var refreshTokens: Bool
        /// When the broker writes sessions and queued messages to disk. Default ``BrokerPersistence/everyChange``.
        public var brokerPersistence: BrokerPersistence
        /// Whether clients on the broker's plain port go through a proxy. Default: no.
        ///
        /// Scripted faults of packets need the proxy: held acknowledgements, lost and repeated messages, other packet
        /// identifiers. Clients over TLS bypass the proxy. Clients over WebSocket always use one.
        public var faultProxy: Bool
        package var faultScript: FaultScript?
        /// The ports that clients get in endpoints, if a proxy outside the emulator is between the clients and the
        /// emulator.
        package var advertisedBrokerPorts: BrokerPorts?
        /// Whether the broker delivers with the QoS of the subscription, although the emulator publishes with QoS 1.
        /// This violates MQTT, but makes tests of QoS 2 possible.
        package var upgradesQoS = false
        /// Explains a payload for the emulator's page: `findings` and the decoded `message`. `nil` for no
        /// explanations.
        package var explain: (@Sendable (_ payload: [UInt8]) -> JSONValue)?
        package var patience = BrokerPatience()

        /// Creates a configuration.
        public init(
            port: UInt16 = 0, httpsPort: UInt16 = 0, mqttPort: UInt16 = 0, mqttTLSPort: UInt16 = 0,
            webSocketPort: UInt16 = 0, webSocketTLSPort: UInt16 = 0, directory: String? = nil,
            runtimeFile: String? = nil, strict: Bool = false, mosquittoPath: String? = nil,
            endpointDelay: Duration = .zero, mqttTTL: Duration? = nil, tokenLifetime: Duration? = nil,
            refreshTokens: Bool = true, brokerPersistence: BrokerPersistence = .everyChange, faultProxy: Bool = false
        ) {
            self.port = port
            self.httpsPort = httpsPort
            self.mqttPort = mqttPort
            self.mqttTLSPort = mqttTLSPort
            self.webSocketPort = webSocketPort
            self.webSocketTLSPort = webSocketTLSPort
            self.directory = directory
            self.runtimeFile = runtimeFile
            self.strict = strict
            self.mosquittoPath = mosquittoPath
            self.endpointDelay = endpointDelay
            self.mqttTTL = mqttTTL
            self.tokenLifetime = tokenLifetime
            self.refreshTokens = refreshTokens
            self.brokerPersistence = brokerPersistence
            self.faultProxy = faultProxy
        }
    }

    /// The root of the REST calls, `http://127.0.0.1:{port}/api`.
    public var baseURL: String { self.parts.ports.baseURL }
    /// The root of the REST calls over HTTPS, `https://127.0.0.1:{port}/api`. Clients have to trust
    /// ``certificateAuthorityFile``.
    ///
    /// `nil` if this machine's libmicrohttpd was built without TLS.
    public var httpsBaseURL: String? { self.parts.ports.httpsBaseURL }
    /// The app's ID, the same for every emulator.
    public var appID: String { self.app.appID }
    /// The app's key: random, and stored in ``directory``.
    public var appKey: Secret { self.app.appKey }
    /// The client ID of the app's administrator, stored in ``directory``.
    public var adminClientID: String { self.app.clientID }
    /// The client secret of the app's administrator, stored in ``directory``.
    public var adminClientSecret: Secret { self.app.clientSecret }
    /// The PEM file of the certificate authority for HTTPS and the broker. Server certificates have the names
    /// `localhost` and `127.0.0.1`.
    public var certificateAuthorityFile: String { self.parts.directory.brokerFiles.certificates.authority }
    /// The broker's port, or the proxy's with ``Configuration/faultProxy``.
    public var mqttPort: UInt16 { self.parts.ports.broker.tcp }
    /// The broker's port for TLS.
    public var mqttTLSPort: UInt16 { self.parts.ports.broker.tls }
    /// The port for MQTT over WebSocket, `ws://127.0.0.1:{port}/mqtt`.
    public var webSocketPort: UInt16 { self.parts.ports.broker.webSocket }
    /// The port for MQTT over WebSocket and TLS, `wss://127.0.0.1:{port}/mqtt`.
    public var webSocketTLSPort: UInt16 { self.parts.ports.broker.webSocketTLS }
    /// The directory with the state, the certificates, and the broker's sessions and log.
    public var directory: String { self.parts.directory.path }

    private let parts: Parts
    private let app: AppIdentity
    private let stopped = Locked(false)

    private init(parts: Parts, app: AppIdentity) {
        self.parts = parts
        self.app = app
    }

    /// Starts an emulator. Returns when it accepts requests and connections.
    ///
    /// - Throws: ``EmulatorError``, for example if the directory is in use, a port is taken, or a program is missing or
    ///   fails to start.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> Emulator {
        let launch = try await OSThread.run(named: "kii-prepare") { try Launch(configuration) }
        return try await launch.run()
    }

    /// Stops the HTTP servers and the broker. Returns when they have ended. Pending sends get 503. Only the first call
    /// has an effect; later calls return at once.
    public func stop() async {
        let wasStopped = self.stopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        self.parts.runtimeFile?.remove()
        await self.parts.stop()
    }

    package func publish(_ payloads: [[UInt8]], on topic: String) async -> Bool {
        await withCheckedContinuation { continuation in
            self.parts.publisher.publish(payloads.map { MQTTPublish(topic: topic, payload: $0) }) {
                continuation.resume(returning: $0)
            }
        }
    }

    package var inspectorURL: String { self.parts.ports.inspectorURL }

    package var activity: ActivityLog { self.parts.activity }

    package static func isFree(_ port: UInt16) -> Bool {
        do { return try LoopbackSocket.freePort(preferring: port) != nil } catch { return false }
    }

    package var brokerConfigurationFile: String { self.parts.directory.brokerFiles.configuration }
}

extension Emulator {
    /// - Parameter port: the required port. With 0 the emulator chooses a port, or serves no HTTPS if libmicrohttpd
    ///   has no TLS.
    package static func servesHTTPS(port: UInt16, libraryHasTLS: Bool) throws(EmulatorError) -> Bool {
        guard !libraryHasTLS, port != 0 else { return libraryHasTLS }
        throw EmulatorError(.httpsUnavailable, "no HTTPS on port \(port): libmicrohttpd was built without TLS here")
    }

    struct Parts: Sendable {
        let directory: EmulatorDirectory
        let broker: Broker
        let proxy: PacketProxy<ProxyClients>
        let publisher: Publisher
        let delayed: DelayedReplies
        let activity: ActivityLog
        let receivers: Receivers
        let faults: PollThread<FaultNews>
        var servers: [HTTPServer] = []
        var runtimeFile: RuntimeFile?
        let ports: EmulatorState.Ports

        func stop() async {
            // Broker and publisher stop before the HTTP servers. They complete all pending calls, so that no request
            // waits for them.
            await self.broker.stop()
            // If memory is too short for a new thread, this thread does the work and blocks for a moment.
            do { try await OSThread.run(named: "kii-stop", self.stopServing) } catch { self.stopServing() }
            self.directory.release()
        }

        /// Stops the servers last: libmicrohttpd must not stop while a request waits for an answer.
        @Sendable func stopServing() {
            self.publisher.stop()
            self.faults.stop()
            self.faults.join()
            self.proxy.stop()
            self.delayed.stop()
            self.receivers.stop()
            self.activity.close()
            for server in self.servers { server.stop() }
        }
    }

    struct Launch: Sendable {
        let configuration: Configuration
        let directory: EmulatorDirectory
        let programs: Programs
        let stored: EmulatorState
        let presence: BrokerPresence

        init(_ configuration: Configuration) throws(EmulatorError) {
            self.configuration = configuration
            self.programs = try Programs.find(mosquitto: configuration.mosquittoPath)
            self.directory = try EmulatorDirectory(
                configuration.directory, brokerPatience: configuration.patience.stop)
            do throws(EmulatorError) {
                let files = self.directory.brokerFiles
                self.presence = BrokerPresence(log: files.log)
                try EmulatorError.ofFile(PrivateFile.makeDirectory(files.directory))
                try files.certificates.ensure(programs: self.programs)
                self.stored = try EmulatorState(store: StateStore(path: self.directory.statePath))
            } catch {
                self.directory.release()
                throw error
            }
        }

        func run() async throws -> Emulator {
            var identifiers = Identifiers()
            let publisher = BrokerCredential(
                username: BrokerFiles.publisherName, password: Secret(identifiers.secret(43)))
            let broker: Broker
            let proxy: PacketProxy<ProxyClients>
            do {
                // The proxy starts first, so that the broker does not choose the proxy's port.
                proxy = try self.proxy()
                broker = try await Broker.start(self.brokerSettings(publisher))
            } catch {
                self.directory.release()
                throw error
            }
            do {
                await proxy.forward(to: broker.ports.tcp)
                let parts = try await OSThread.run(named: "kii-launch") {
                    try self.serve(broker: broker, proxy: proxy, publisher: publisher)
                }
                return Emulator(parts: parts, app: self.stored.app)
            } catch {
                await broker.stop()
                self.directory.release()
                throw error
            }
        }

        private func proxy() throws(EmulatorError) -> PacketProxy<ProxyClients> {
            let (configuration, former) = (self.configuration, self.stored.ports.broker)
            let identity = try TLSIdentity(self.directory.brokerFiles.certificates)
            var listeners = [
                try ProxyListener(.webSocket, on: configuration.webSocketPort, preferred: former.webSocket),
                try ProxyListener(
                    .webSocketTLS, on: configuration.webSocketTLSPort, preferred: former.webSocketTLS,
                    identity: identity),
            ]
            if configuration.faultProxy {
                listeners.append(try ProxyListener(.tcp, on: configuration.mqttPort, preferred: former.tcp))
            }
            return try PacketProxy(listeners, observer: ProxyClients())
        }

        private func brokerSettings(_ publisher: BrokerCredential) -> Broker.Settings {
            var files = self.directory.brokerFiles
            files.upgradesQoS = self.configuration.upgradesQoS
            var ports = BrokerPorts(tcp: self.configuration.mqttPort, tls: self.configuration.mqttTLSPort)
            var preferredPorts = self.stored.ports.broker
            if self.configuration.faultProxy { (ports.tcp, preferredPorts.tcp) = (0, 0) }
            return Broker.Settings(
                files: files, programs: self.programs, ports: ports, preferredPorts: preferredPorts,
                persistence: self.configuration.brokerPersistence, publisher: publisher,
                usernames: Set(self.stored.cloud.installations.values.compactMap { $0.credential?.username }),
                presence: self.presence, lock: self.directory.brokerLock, patience: self.configuration.patience)
        }

        private func serve(
            broker: Broker, proxy: PacketProxy<ProxyClients>, publisher credential: BrokerCredential
        ) throws(EmulatorError) -> Parts {
            let configuration = self.configuration
            let listener = try LoopbackSocket.listener(on: configuration.port, preferred: self.stored.ports.http)
            var ports = EmulatorState.Ports(http: LoopbackSocket.port(of: listener), broker: broker.ports)
            ports.broker.webSocket = proxy.port(for: .webSocket)
            ports.broker.webSocketTLS = proxy.port(for: .webSocketTLS)
            if configuration.faultProxy { ports.broker.tcp = proxy.port }
            var secureListener: FileDescriptor?
            if try Emulator.servesHTTPS(port: configuration.httpsPort, libraryHasTLS: HTTPServer.hasTLS) {
                let former = self.stored.ports.https
                let listener = try LoopbackSocket.listener(on: configuration.httpsPort, preferred: former)
                ports.https = LoopbackSocket.port(of: listener)
                secureListener = listener
            }
            let store = try StateStore(path: self.directory.statePath)
            try EmulatorState.save(ports, in: store)
            var identifiers = Identifiers()
            let settings = EmulatedCloud.Settings(
                app: self.stored.app, brokerPorts: configuration.advertisedBrokerPorts ?? ports.broker,
                isStrict: configuration.strict, baseURL: ports.baseURL, httpsBaseURL: ports.httpsBaseURL,
                pageToken: Secret(identifiers.secret(43)), hasFaultProxy: configuration.faultProxy)
            var app = AppSettings()
            app.endpointDelay = configuration.endpointDelay
            app.mqttTTL = configuration.mqttTTL
            app.tokenLifetime = configuration.tokenLifetime
            app.givesRefreshTokens = configuration.refreshTokens
            let cloud = EmulatedCloud(settings: settings, app: app, state: self.stored.cloud)
            cloud.presence = { [presence = self.presence] in presence.statuses() }
            let activity = ActivityLog()
            let folder = configuration.runtimeFile.map { ReceiverFolder(in: Directory.parent(of: $0)) }
            let receivers = try Receivers(in: folder, log: activity)
            cloud.proxiedUsernames = { proxy.observer.usernames }
            proxy.observer.observe { activity.append(.webSocket($0)) }
            if let script = configuration.faultScript { cloud.script.play(script, now: .now()) }
            let faults = PollThread<FaultNews>(name: "kii-faults")
            var parts = Parts(
                directory: self.directory, broker: broker, proxy: proxy,
                publisher: try Publisher(
                    port: broker.ports.tcp, credential: credential, patience: configuration.patience.publish),
                delayed: DelayedReplies(), activity: activity, receivers: receivers, faults: faults, ports: ports)
            do throws(EmulatorError) {
                let certificates = self.directory.brokerFiles.certificates
                let service = CloudService(
                    cloud: cloud, store: store, broker: broker, publisher: parts.publisher, delayed: parts.delayed,
                    faultNews: faults, activity: activity, receivers: receivers)
                try faults.run {
                    FaultPlayer(news: faults, service: service, port: broker.ports.tcp, proxy: proxy)
                }
                // Weak, since the service retains `presence`: a strong reference would be a cycle.
                self.presence.observe { [weak service] in service?.note($0) }
                let inspector = Inspector(
                    service, log: activity, receivers: receivers, settings: settings, explain: configuration.explain)
                let handler: HTTPServer.Handler = { inspector.handle($0, $1) }
                parts.servers.append(try HTTPServer(listener, handler: handler))
                if let secureListener {
                    parts.servers.append(try HTTPServer(secureListener, certificates: certificates, handler: handler))
                }
                if let path = configuration.runtimeFile {
                    // Written last: other programs take the file as a sign that the emulator answers.
                    parts.runtimeFile = try RuntimeFile(
                        writing: path, app: self.stored.app, ports: ports, caFile: certificates.authority)
                }
            } catch {
                parts.stopServing()
                throw error
            }
            return parts
        }
    }
}
