import Glibc
public import KiiPushCore

/// A Kii-style cloud on this machine: HTTP, HTTPS and an MQTT broker on the loopback interface, for one app.
///
/// It answers the REST calls that push needs as Kii's cloud answers them, and delivers through a real mosquitto that
/// it starts, watches and stops. A send is answered with success when the broker has acknowledged it.
///
/// Call ``stop()`` when done. Should the process end without, mosquitto ends too, and what it kept is there at the next
/// start with the same directory.
public final class Emulator: Sendable {
    /// How an emulator is started.
    public struct Configuration: Sendable {
        /// The port for HTTP; 0, the default, takes the one of the last start if it is free, else any.
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
        /// Where state, certificates and the broker's sessions are kept; `nil`, the default, is a temporary directory
        /// that ``Emulator/stop()`` removes.
        public var directory: String?
        /// Where to write what others need to find the emulator, mode 0600; removed by ``Emulator/stop()``. `nil`, the
        /// default, writes nothing.
        public var runtimeFile: String?
        /// Refuse what Kii's cloud lets pass: an app key or secret that is wrong where Kii does not look at it, keys in a
        /// message's data that Kii writes itself, and a subscription to a bucket that is not there. Default no.
        public var strict: Bool
        /// The broker's program; `nil`, the default, looks for `mosquitto` in the places programs are in.
        public var mosquittoPath: String?
        /// How long after its creation an installation's endpoint is answered with 503 "not ready". Default none.
        public var endpointDelay: Duration
        /// How long an MQTT endpoint is good for, counted from when it is handed out; then there are another topic and
        /// other credentials. `nil`, the default, is for ever. In whole seconds on the wire.
        public var mqttTTL: Duration?
        /// How long a login's token lives when the login does not say; `nil`, the default, is for ever.
        public var tokenLifetime: Duration?
        /// Whether a login brings a refresh token. Default yes.
        public var refreshTokens: Bool
        /// When the broker writes sessions and queued messages to disk. Default ``BrokerPersistence/everyChange``.
        public var brokerPersistence: BrokerPersistence
        /// Whether a proxy stands before the broker's plain port, as scripted faults need that are about packets: held
        /// acknowledgements, lost and doubled messages, other packet identifiers. Default no.
        ///
        /// The proxy has the port that the broker would have, and endpoints name it. TLS passes it by. Clients over
        /// WebSocket always go through a proxy.
        public var faultProxy: Bool
        /// Faults that happen in order, from the start on.
        package var faultScript: FaultScript?
        /// The ports that endpoints name in place of the broker's own: those of a proxy in front of it.
        package var advertisedBrokerPorts: BrokerPorts?
        /// Whether the broker delivers with the QoS that a client subscribed with, though the emulator publishes with
        /// QoS 1. MQTT forbids it; without it QoS 2 could not be tried.
        package var upgradesQoS = false
        /// What the page says of a payload: `findings` and the decoded `message`. `nil`: nothing.
        package var explain: (@Sendable (_ payload: [UInt8]) -> JSONValue)?
        /// How long the broker is waited for; for tests, on machines that are busy and of what follows.
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
    /// The same by HTTPS, `https://127.0.0.1:{port}/api`, with a certificate of ``certificateAuthorityFile``.
    ///
    /// `nil` where the libmicrohttpd of this machine was built without TLS.
    public var httpsBaseURL: String? { self.parts.ports.httpsBaseURL }
    /// The app's ID, the same for every emulator.
    public var appID: String { self.app.appID }
    /// The app's key, random and kept with the state.
    public var appKey: Secret { self.app.appKey }
    /// What the app's administrator logs in with, kept with the state.
    public var adminClientID: String { self.app.clientID }
    /// What the app's administrator logs in with, kept with the state.
    public var adminClientSecret: Secret { self.app.clientSecret }
    /// The certificate (PEM) of the authority that signed the one of HTTPS and of the broker, whose names are
    /// `localhost` and `127.0.0.1`.
    public var certificateAuthorityFile: String { self.parts.directory.brokerFiles.certificates.authority }
    /// The broker's port, or that of the proxy before it.
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

    /// Starts an emulator and returns when it takes requests and connections.
    ///
    /// - Throws: ``EmulatorError``: the directory is in use, a port is taken, or a program is missing or does not start.
    public static func start(_ configuration: Configuration = Configuration()) async throws -> Emulator {
        let launch = try await OSThread.run(named: "kii-prepare") { try Launch(configuration) }
        return try await launch.run()
    }

    /// Stops HTTP and the broker and returns when both have ended; sends in progress are answered with 503.
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

    /// Publishes bytes that no REST call would let pass on an endpoint's topic; `true` when the broker has them all.
    package func publish(_ payloads: [[UInt8]], on topic: String) async -> Bool {
        await withCheckedContinuation { continuation in
            self.parts.publisher.publish(payloads.map { Publication(topic: topic, payload: $0) }) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// The address of the page that shows what happens.
    package var inspectorURL: String { self.parts.ports.inspectorURL }

    /// What happens at the emulator, until it is stopped.
    package var activity: ActivityLog { self.parts.activity }

    /// Whether nobody listens on a port of 127.0.0.1 now.
    package static func isFree(_ port: UInt16) -> Bool {
        do { return try LoopbackSocket.freePort(preferring: port) != nil } catch { return false }
    }

    /// The configuration that mosquitto was started with, by which its process is found.
    package var brokerConfigurationFile: String { self.parts.directory.brokerFiles.configuration }
}

extension Emulator {
    /// Whether HTTPS is served: wherever libmicrohttpd has TLS.
    ///
    /// - Parameters:
    ///   - port: the port asked for; 0 leaves it to the emulator, which then does without HTTPS where it has to.
    ///   - libraryHasTLS: whether libmicrohttpd was built with TLS.
    /// - Throws: ``EmulatorError`` with the code `httpsUnavailable` where a port is asked for in vain.
    package static func servesHTTPS(port: UInt16, libraryHasTLS: Bool) throws(EmulatorError) -> Bool {
        guard !libraryHasTLS, port != 0 else { return libraryHasTLS }
        throw EmulatorError(.httpsUnavailable, "no HTTPS on port \(port): libmicrohttpd was built without TLS here")
    }

    /// What runs.
    struct Parts: Sendable {
        let directory: EmulatorDirectory
        let broker: Broker
        let proxy: PacketProxy<ProxyClients>
        let publisher: Publisher
        let delayed: DelayedReplies
        let activity: ActivityLog
        let receivers: Receivers
        /// Plays a script of faults once it is started.
        let faults: PollThread<FaultNews>
        /// HTTP, and HTTPS where it is served.
        var servers: [HTTPServer] = []
        var runtimeFile: RuntimeFile?
        let ports: EmulatorState.Ports

        func stop() async {
            // The broker and the publisher first: once they have answered all, no connection waits any more.
            await self.broker.stop()
            // Starting a thread fails only for want of memory; then this one blocks for a moment.
            do { try await OSThread.run(named: "kii-stop", self.stopServing) } catch { self.stopServing() }
            self.directory.release()
        }

        /// A request that waits is answered first, as no connection may wait when its server stops.
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

    /// Everything up to the first process and socket.
    struct Launch: Sendable {
        let configuration: Configuration
        let directory: EmulatorDirectory
        let programs: Programs
        let stored: EmulatorState
        let presence: BrokerPresence

        /// Takes the directory, reads the state and makes the certificates. Blocks.
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
                // The servers hold the service, which holds the presence.
                self.presence.observe { [weak service] in service?.note($0) }
                let inspector = Inspector(
                    service, log: activity, receivers: receivers, settings: settings, explain: configuration.explain)
                let handler: HTTPServer.Handler = { inspector.handle($0, $1) }
                parts.servers.append(try HTTPServer(listener, handler: handler))
                if let secureListener {
                    parts.servers.append(try HTTPServer(secureListener, certificates: certificates, handler: handler))
                }
                if let path = configuration.runtimeFile {
                    // Tells others where the emulator is, once it answers.
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
