import Glibc
public import KiiPushCore

/// A Kii-style cloud on this machine: HTTP, HTTPS and an MQTT broker on the loopback interface, for one app.
///
/// It answers the REST calls that push needs as Kii's cloud answers them, and delivers through a real mosquitto that it
/// starts, watches and stops. A send succeeds when the broker has acknowledged it.
///
/// Call ``stop()`` when done. If the process ends without it, mosquitto ends too, and its messages and sessions are
/// there at the next start with the same directory.
public final class Emulator: Sendable {
    /// The settings of an emulator.
    public struct Configuration: Sendable {
        /// The port for HTTP. 0, the default, takes the port of the last start if it is free, else any.
        public var port: UInt16
        /// The port for HTTPS; 0 as for ``port``.
        public var httpsPort: UInt16
        /// The broker's port; 0 as for ``port``.
        public var mqttPort: UInt16
        /// The broker's port for TLS; 0 as for ``port``.
        public var mqttTLSPort: UInt16
        /// The port for MQTT over WebSocket, whose path is `/mqtt`; 0 as for ``port``.
        public var webSocketPort: UInt16
        /// The port for MQTT over WebSocket and TLS; 0 as for ``port``.
        public var webSocketTLSPort: UInt16
        /// The directory for state, certificates and the broker's sessions. `nil`, the default, makes a temporary
        /// directory, which ``Emulator/stop()`` removes.
        public var directory: String?
        /// The file with the addresses and credentials that other programs need, mode 0600; ``Emulator/stop()`` removes
        /// it. `nil`, the default, writes none.
        public var runtimeFile: String?
        /// Whether to be stricter than Kii's cloud. The emulator then refuses wrong app keys and secrets where Kii does
        /// not check them. It also refuses data keys of a message that Kii itself writes, and subscriptions to missing
        /// buckets. Default no.
        public var strict: Bool
        /// The path of the broker's program. `nil`, the default, searches PATH and the standard directories for
        /// `mosquitto`.
        public var mosquittoPath: String?
        /// Time after an installation's creation during which its endpoint gets 503 "not ready". Default none.
        public var endpointDelay: Duration
        /// Lifetime of an MQTT endpoint, counted from when a client first gets it. After that, topic and credentials
        /// change. `nil`, the default, means no end. In whole seconds on the wire.
        public var mqttTTL: Duration?
        /// Lifetime of a token if the login does not give one; `nil`, the default, means no end.
        public var tokenLifetime: Duration?
        /// Whether a login returns a refresh token. Default yes.
        public var refreshTokens: Bool
        /// When the broker writes sessions and queued messages to disk. Default ``BrokerPersistence/everyChange``.
        public var brokerPersistence: BrokerPersistence
        /// Whether a proxy stands in front of the broker's plain port. Scripted faults of packets need it: held
        /// acknowledgements, lost and doubled messages, other packet identifiers. Default no.
        ///
        /// The proxy has the port that the broker would have, and endpoints name it. TLS bypasses it. Clients over
        /// WebSocket always go through a proxy.
        public var faultProxy: Bool
        /// A script of faults that starts with the emulator.
        package var faultScript: FaultScript?
        /// The ports that endpoints name instead of the broker's own: the ports of a proxy in front of it.
        package var advertisedBrokerPorts: BrokerPorts?
        /// Whether the broker delivers with the QoS of the client's subscription, although the emulator publishes with
        /// QoS 1. MQTT forbids it, but QoS 2 could not be tested otherwise.
        package var upgradesQoS = false
        /// The page's explanation of a payload: `findings` and the decoded `message`. `nil` explains nothing.
        package var explain: (@Sendable (_ payload: [UInt8]) -> JSONValue)?
        /// Time limits for the broker; tests change them, for busy machines and to see the effect of a timeout.
        package var patience = BrokerPatience()

        /// Makes a configuration.
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
    /// The root of the REST calls by HTTPS, `https://127.0.0.1:{port}/api`, with a certificate of
    /// ``certificateAuthorityFile``.
    ///
    /// `nil` where the libmicrohttpd of this machine was built without TLS.
    public var httpsBaseURL: String? { self.parts.ports.httpsBaseURL }
    /// The app's ID, the same for every emulator.
    public var appID: String { self.app.appID }
    /// The app's key, random and kept with the state.
    public var appKey: Secret { self.app.appKey }
    /// The client ID of the app's administrator, kept with the state.
    public var adminClientID: String { self.app.clientID }
    /// The client secret of the app's administrator, kept with the state.
    public var adminClientSecret: Secret { self.app.clientSecret }
    /// The certificate (PEM) of the authority that signed the server certificate of HTTPS and of the broker. The server
    /// certificate's names are `localhost` and `127.0.0.1`.
    public var certificateAuthorityFile: String { self.parts.directory.brokerFiles.certificates.authority }
    /// The broker's port, or the port of the proxy in front of it.
    public var mqttPort: UInt16 { self.parts.ports.broker.tcp }
    /// The broker's port for TLS.
    public var mqttTLSPort: UInt16 { self.parts.ports.broker.tls }
    /// The port for MQTT over WebSocket, `ws://127.0.0.1:{port}/mqtt`.
    public var webSocketPort: UInt16 { self.parts.ports.broker.webSocket }
    /// The port for MQTT over WebSocket and TLS, `wss://127.0.0.1:{port}/mqtt`.
    public var webSocketTLSPort: UInt16 { self.parts.ports.broker.webSocketTLS }
    /// The directory with state, certificates and the broker's log.
    public var directory: String { self.parts.directory.path }

    private let parts: Parts
    private let app: AppIdentity
    private let stopped = Locked(false)

    private init(parts: Parts, app: AppIdentity) {
        self.parts = parts
        self.app = app
    }

    /// Starts an emulator and returns when it accepts requests and connections.
    ///
    /// - Throws: ``EmulatorError``: the directory is in use, a port is taken, or a program is missing or does not
    ///   start.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> Emulator {
        let launch = try await OSThread.run(named: "kii-prepare") { try Launch(configuration) }
        return try await launch.run()
    }

    /// Stops HTTP and the broker and returns when both have ended; sends in progress get 503.
    ///
    /// Only the first call does anything.
    public func stop() async {
        let wasStopped = self.stopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        self.parts.runtimeFile?.remove()
        await self.parts.stop()
    }

    /// Publishes bytes that no REST call would accept on an endpoint's topic; `true` when the broker has acknowledged
    /// all.
    package func publish(_ payloads: [[UInt8]], on topic: String) async -> Bool {
        await withCheckedContinuation { continuation in
            self.parts.publisher.publish(payloads.map { Publication(topic: topic, payload: $0) }) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// The address of the emulator's page.
    package var inspectorURL: String { self.parts.ports.inspectorURL }

    /// The emulator's events, until it is stopped.
    package var activity: ActivityLog { self.parts.activity }

    /// Whether nobody listens on a port of 127.0.0.1 now.
    package static func isFree(_ port: UInt16) -> Bool {
        do { return try LoopbackSocket.freePort(preferring: port) != nil } catch { return false }
    }

    /// The path of mosquitto's configuration file, which identifies its process.
    package var brokerConfigurationFile: String { self.parts.directory.brokerFiles.configuration }
}

extension Emulator {
    /// Whether HTTPS is served: wherever libmicrohttpd has TLS.
    ///
    /// - Parameters:
    ///   - port: the required port. With 0 the emulator chooses one, or serves no HTTPS if libmicrohttpd has no TLS.
    ///   - libraryHasTLS: whether libmicrohttpd was built with TLS.
    /// - Throws: ``EmulatorError`` with the code `httpsUnavailable` if a required port cannot be served.
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
            // The broker and the publisher first: once they have completed all calls, no connection waits any more.
            await self.broker.stop()
            // Starting a thread fails only for want of memory; then this one blocks for a moment.
            do { try await OSThread.run(named: "kii-stop", self.stopServing) } catch { self.stopServing() }
            self.directory.release()
        }

        /// Answers waiting requests first, as no connection may wait when its server stops.
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

        /// Locks the directory, reads the state and makes the certificates. Blocks.
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
                // First, so that the broker takes another port.
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
            var cloud = EmulatedCloud(
                settings: settings,
                app: AppSettings(
                    endpointDelay: configuration.endpointDelay, mqttTTL: configuration.mqttTTL,
                    tokenLifetime: configuration.tokenLifetime, givesRefreshTokens: configuration.refreshTokens),
                state: self.stored.cloud)
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
                // Weak, since the servers hold the service, which holds the presence.
                self.presence.observe { [weak service] in service?.note($0) }
                let inspector = Inspector(
                    service, log: activity, receivers: receivers, settings: settings, explain: configuration.explain)
                let handler: HTTPServer.Handler = { inspector.handle($0, $1) }
                parts.servers.append(try HTTPServer(listener, handler: handler))
                if let secureListener {
                    parts.servers.append(try HTTPServer(secureListener, certificates: certificates, handler: handler))
                }
                if let path = configuration.runtimeFile {
                    // Written only once the emulator answers, since other programs find it by this file.
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
