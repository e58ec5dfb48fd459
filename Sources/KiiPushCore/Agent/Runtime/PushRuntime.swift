/// The base that the agents of one process share: one network thread, one inbox, one lock on the state directory.
///
/// A runtime with an inbox file or a control socket locks the state directory when an agent first connects or a call
/// first needs the inbox. The lock stays until ``shutdown()``: only one process at a time receives with a state
/// directory. Another process can still read the registration (``PushAgent/registration()``) and obtain a token.
public final class PushRuntime: Sendable {
    /// The settings for storage and connections.
    public struct Configuration: Sendable {
        /// The place of messages until their handler has answered.
        public enum Inbox: Sendable, Hashable {
            /// In a SQLite file. A message is acknowledged when it is on the disk, and survives a crash or power cut
            /// from then on.
            case file
            /// In memory. A message is acknowledged when its handler has answered (default: three attempts, 60 s in
            /// all). A message that fails all attempts is acknowledged and not kept. If the process ends first, the
            /// broker repeats the message.
            case memory
        }

        /// The directory for the inbox, the lock and the tokens, made with mode 0700 if missing. Default: see
        /// ``init(stateDirectory:)``.
        public var stateDirectory: String
        /// The place of messages. Default: ``Inbox/file``.
        public var inbox = Inbox.file
        /// The most handlers that run at once, each on its own thread. 1 to 10,000. Default 4.
        public var concurrentHandlers = 4
        /// The delays between the attempts to deliver a message, from the end of the failed attempt. 100 at most, each
        /// 0 to 7 days. There is one attempt more than there are delays; then the message is a dead letter. A message
        /// that ends the process in as many attempts is a dead letter, too.
        ///
        /// Default (`nil`): 1 s, 5 s, 30 s, 5 min and 30 min. With ``Inbox/memory``: 1 s and 5 s, and no attempt starts
        /// later than 60 s after the first.
        public var retryDelays: [Duration]?
        /// Whether a message that waits for its retry holds back later messages of the same source, even after a
        /// restart. A source is a topic, a bucket, or the sender of direct pushes. A source may wait as long as all
        /// ``retryDelays`` together. Default: no.
        public var isStrictlyOrdered = false
        /// The limits of the storage.
        public var bounds = Bounds()
        /// A PEM file of certificates to trust instead of the system's, for the REST API and the broker. Default: none.
        public var certificateAuthorityFile: String?
        /// A PEM file with the client certificate for servers that ask for one, followed by intermediate certificates.
        /// Each connection reads the file, so a renewed certificate needs no restart. Default: none.
        public var clientCertificateFile: String?
        /// A PEM file with the key of ``clientCertificateFile``, without a password. It must belong to this user, with
        /// mode 0600 or less. Below `$CREDENTIALS_DIRECTORY` it may belong to the service manager. Default (`nil`): the
        /// key is in the certificate's file.
        public var clientKeyFile: String?
        /// If `false`, anyone on the network path can read and forge everything.
        package var verifiesCertificates = true
        /// The URL of a proxy (`http`, `https`, `socks5`, …) for the REST API and the broker. Default: none; the
        /// runtime ignores the environment.
        public var proxy: String?
        /// The field `User-Agent` of requests to the REST API and to a proxy: printable ASCII. Default: this library
        /// and libcurl with their versions, such as `KiiPushCore/0.1.0 libcurl/7.88.1`.
        public var userAgent = UserAgent.ofLibrary
        package var callTimeout = Duration.seconds(30)
        /// Whether other processes of the same user may watch the messages, and retry or drop dead letters (`kii-push
        /// listen`, `kii-push inbox`). They use the unix socket `control.sock` in the state directory, mode 0600. With
        /// ``Inbox/memory`` they can only watch. Default: no.
        public var hasControlSocket = false
        /// The longest wait for running handlers during a stop. Default 10 s. An agent's next run delivers unfinished
        /// messages again.
        public var shutdownGrace = Duration.seconds(10)
        package var environment = RuntimeEnvironment()

        /// Makes a configuration with default settings.
        ///
        /// - Parameter stateDirectory: Default (`nil`): `$STATE_DIRECTORY` (set by systemd), else
        ///   `$XDG_STATE_HOME/kii-push`, else `~/.local/state/kii-push`; `/var/lib/kii-push` without a home.
        public init(stateDirectory: String? = nil) {
            self.stateDirectory =
                stateDirectory ?? StateDirectory.standard(environment: environmentVariable) ?? "/var/lib/kii-push"
        }
    }

    struct Core: Sendable {
        let pipeline: LoopIsolated<Pipeline>
        let workers: Workers
        let lock: FileLock?
        let control: ControlServer?
        let isDurable: Bool
        let events: [PushEvent]
    }

    package let configuration: Configuration
    package let loop: EventLoop
    private let core = Locked<Core?>(nil)
    /// If set, replaces ``Configuration/inbox``.
    package let shared: (any SharedStore)?
    let opening = Locked<[OneShot<Result<Core, any Error>>]>([])
    let waits = InterruptibleWaits()
    let hubs = Locked<[Int64: EventHub]>([:])
    package let listeners = Locked(0)
    /// Functions that take over another installation's messages, by the ID of the installation that takes over. Called
    /// on the loop's thread.
    let adopters = Adopters([:])
    typealias Adopters = Locked<[String: @Sendable (Adoption) -> Void]>

    var opened: Core? {
        get { self.core.withLock { $0 } }
        set { self.core.withLock { $0 = newValue } }
    }

    /// Starts the network thread.
    ///
    /// - Throws: ``PushAgentError/invalidConfiguration(setting:reason:)`` for an invalid setting; ``TransportError``
    ///   with code `invalidConfiguration` for an unusable proxy, user agent or file of certificates, and for a key that
    ///   others can read.
    public convenience init(configuration: Configuration = Configuration()) throws {
        try self.init(configuration: configuration, sharing: nil)
    }

    package init(configuration: Configuration, sharing shared: (any SharedStore)?) throws {
        try configuration.validate()
        self.configuration = configuration
        self.shared = shared
        self.loop = try EventLoop(configuration: configuration.loopConfiguration(configuration.trust))
        self.loop.submit { [weak loop = self.loop, core = self.core, waits = self.waits] in
            loop?.setClockObserver { jump in
                core.withLock { $0 }?.pipeline.value.clocksJumped(jump)
                waits.clocksJumped(jump)
            }
        }
    }

    deinit { self.stop() }

    /// A client of the REST API that shares this runtime's connections.
    public func client(for app: KiiApp) -> KiiClient {
        KiiClient(app: app, transport: self.loop, timeout: self.configuration.callTimeout)
    }

    /// Ends the runtime: gives running handlers ``Configuration/shutdownGrace``, closes connections, and releases the
    /// lock. Running agents end as if cancelled. Nothing of the runtime can be used afterwards.
    public func shutdown() async {
        if self.opened != nil {
            try? await self.onPipeline { $0.drain() }
            await self.wait(for: .calls(of: nil), within: self.configuration.shutdownGrace)
        }
        self.stop()
    }

    /// For tests that have moved delivery's clock.
    package func deliveryTimeChanged() { self.loop.submit {} }

    func onPipeline<Result: Sendable>(_ body: @escaping @Sendable (Pipeline) -> Result) async throws -> Result {
        let core = try await self.open()
        return try await self.loop.run { body(core.pipeline.value) }
    }

    /// - Returns: whether the event came within `limit`; `false` at once if the runtime is not open.
    @discardableResult
    func wait(for event: Wait.Event, within limit: Duration) async -> Bool {
        guard let core = self.opened else { return false }
        let deadline = self.configuration.environment.clocks.monotonic() + limit
        return await self.loop.wait(for: event, in: core.pipeline, until: deadline)
    }

    private func stop() {
        // The workers end before the loop, whose last turn writes their answers.
        self.opened?.workers.shutdown()
        self.loop.shutdown()
        self.finishOpening(.failure(TransportError.shutDown))
        let core = self.core.withLock { $0.take() }
        // One of the loop's last turns may have made this core.
        core?.workers.shutdown()
        core?.control?.stop()
        // The lock is released last, after the inbox has ended with the loop. On the loop's own thread the loop has not
        // ended yet; then the core's last owner releases the lock.
        if !self.loop.isCurrent { core?.lock?.release() }
    }
}
