/// The base that the agents of one process share: one network thread, one inbox, one lock on the state directory.
///
/// Any number of agents may run on one runtime. Creating it starts its thread. The runtime locks the state directory
/// when the first agent runs, or opens its session at the broker while it registers. The lock stays until
/// ``shutdown()``. Two processes cannot receive with one state directory at once. Another process may meanwhile read
/// the registration (``PushAgent/registration()``) and obtain a token.
public final class PushRuntime: Sendable {
    /// The settings for storage and connections.
    public struct Configuration: Sendable {
        /// The place of messages until their handler has answered.
        public enum Inbox: Sendable, Hashable {
            /// In a SQLite file: a message is acknowledged when it is on the disk, and is never lost after that.
            case file
            /// In memory: a message is acknowledged when its handler has answered (three attempts, 60 s in all).
            /// Messages that fail all attempts, and a message that ends the process, are not kept.
            case memory
        }

        /// The directory for the inbox, the lock and the tokens. Made with mode 0700 where it is missing. Default:
        /// ``init(stateDirectory:)``.
        public var stateDirectory: String
        /// The place of messages. Default: ``Inbox/file``.
        public var inbox = Inbox.file
        /// The most handlers that run at once, 1 to 10,000. As many threads start. Default 4.
        public var concurrentHandlers = 4
        /// The pauses between the attempts to deliver a message, counted from the end of the failed attempt. There is
        /// one attempt more than there are pauses; then the message is a dead letter. A message that ends the process
        /// becomes a dead letter after as many attempts. Each pause is 0 to 7 days long. There are 100 at most; none at
        /// all means a single attempt.
        ///
        /// Default (`nil`): 1 s, 5 s, 30 s, 5 min and 30 min; with ``Inbox/memory``, where no attempt starts later than
        /// 60 s after the first, 1 s and 5 s.
        public var retryDelays: [Duration]?
        /// Whether a message that waits for its retry holds back its successors from the same source, also in the next
        /// process. A source is a topic, a bucket, or the sender of direct pushes. It may then stand still for as long
        /// as ``retryDelays`` add up to. Default: no.
        public var isStrictlyOrdered = false
        /// The limits of the storage.
        public var bounds = Bounds()
        /// A file of PEM certificates to trust instead of the system's, for the REST API and the broker. Default: none.
        public var certificateAuthorityFile: String?
        /// A file with the PEM certificate to show to a cloud or a broker that asks for one, followed by the
        /// certificates between it and its authority. Each connection reads it, so a renewed certificate needs no
        /// restart. Default: none.
        public var clientCertificateFile: String?
        /// A file with the PEM key of ``clientCertificateFile``, without a password. It must belong to this user, with mode
        /// 0600 or less; a file below `$CREDENTIALS_DIRECTORY` may be the service manager's. Default (`nil`): the key is in
        /// the certificate's file.
        public var clientKeyFile: String?
        /// Whether certificates are verified. Turning it off lets anyone on the way read and forge everything.
        package var verifiesCertificates = true
        /// The URL of a proxy (`http`, `https`, `socks5`, …) for the REST API and the broker. Default: none; the
        /// runtime ignores the environment.
        public var proxy: String?
        /// The field `User-Agent` of requests to the REST API and to a proxy: printable ASCII. Default: this library and
        /// libcurl with their versions, such as `KiiPushCore/0.1.0 libcurl/7.88.1`.
        public var userAgent = UserAgent.ofLibrary
        /// The longest time for one exchange with the REST API. Default 30 s.
        package var callTimeout = Duration.seconds(30)
        /// Whether other processes of the same user may watch the messages and retry or drop dead letters, as `kii-push
        /// listen` and `kii-push inbox` do. They use the unix socket `control.sock` in the state directory, mode 0600.
        /// With ``Inbox/memory`` they can only watch. Default: no.
        public var hasControlSocket = false
        /// The longest time that a stop waits for running handlers. Default 10 s. The next run delivers unfinished
        /// messages again.
        public var shutdownGrace = Duration.seconds(10)
        /// For tests.
        package var environment = RuntimeEnvironment()

        /// Makes a configuration with the defaults.
        ///
        /// - Parameter stateDirectory: Default `nil`: `$STATE_DIRECTORY` (which systemd sets), else
        ///   `$XDG_STATE_HOME/kii-push`, else `~/.local/state/kii-push`; `/var/lib/kii-push` when not even a home is known.
        public init(stateDirectory: String? = nil) {
            self.stateDirectory =
                stateDirectory ?? StateDirectory.standard(environment: environmentVariable) ?? "/var/lib/kii-push"
        }
    }

    /// The parts that the runtime makes when the first agent needs them.
    struct Core: Sendable {
        let pipeline: LoopIsolated<Pipeline>
        let reactions: Reactions
        let workers: Workers
        let lock: FileLock?
        let control: ControlServer?
        /// Whether a file or a shared store keeps the messages.
        let isDurable: Bool
        /// The events of the opening, for every agent to report.
        let events: [PushEvent]
    }

    package let configuration: Configuration
    /// The network thread; for tests that keep it busy.
    package let loop: EventLoop
    private let core = Locked<Core?>(nil)
    /// Opens the store, where it is neither a file nor memory.
    package let shared: (any SharedStore)?
    let opening = Locked<[OneShot<Result<Core, any Error>>]>([])
    /// The agents' timed waits, which clock jumps end early.
    let waits = InterruptibleWaits()
    /// The hub of each installation's agent, by the store's key.
    let hubs = Locked<[Int64: EventHub]>([:])
    package let listeners = Locked(0)
    /// Functions that take over another installation's messages, by the ID of each installation that an agent receives
    /// as. Called on the loop's thread.
    let adopters = Adopters([:])
    typealias Adopters = Locked<[String: @Sendable (Adoption) -> Void]>

    var opened: Core? {
        get { self.core.withLock { $0 } }
        set { self.core.withLock { $0 = newValue } }
    }

    /// Starts the network thread.
    ///
    /// - Throws: ``PushAgentError/invalidConfiguration(setting:reason:)`` for a setting with an invalid value;
    ///   ``TransportError`` with code `invalidConfiguration` for an unusable proxy, user agent or file of certificates,
    ///   and for a key that is open to others.
    public convenience init(configuration: Configuration = Configuration()) throws {
        try self.init(configuration: configuration, sharing: nil)
    }

    /// - Parameter shared: takes the place of ``Configuration/inbox``.
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

    /// Ends the runtime: running handlers get ``Configuration/shutdownGrace``, connections close, the lock is released.
    /// Agents that still run end as if cancelled. Afterwards nothing of the runtime can be used.
    public func shutdown() async {
        if self.opened != nil {
            try? await self.onPipeline { $0.drain() }
            await self.wait(for: .calls(of: nil), within: self.configuration.shutdownGrace)
        }
        self.stop()
    }

    /// Makes delivery look at its clock: for tests that have moved it.
    package func deliveryTimeChanged() { self.loop.submit {} }

    /// Runs `body` on the loop's thread.
    ///
    /// - Throws: ``TransportError`` with code `shutDown`; what opening throws.
    func onPipeline<Result: Sendable>(_ body: @escaping @Sendable (Pipeline) -> Result) async throws -> Result {
        let core = try await self.open()
        return try await self.loop.run { body(core.pipeline.value) }
    }

    /// Waits for the event, at most for `limit`. Returns at once when the runtime has ended.
    ///
    /// - Returns: whether the event came.
    @discardableResult
    func wait(for event: Wait.Event, within limit: Duration) async -> Bool {
        guard let core = self.opened else { return false }
        let deadline = self.configuration.environment.clocks.monotonic() + limit
        return await self.loop.wait(for: event, in: core.pipeline, until: deadline)
    }

    private func stop() {
        // The workers end before the loop: its last turn writes the answers given until then.
        self.opened?.workers.shutdown()
        self.loop.shutdown()
        self.finishOpening(.failure(TransportError.shutDown))
        let core = self.core.withLock { $0.take() }
        // These workers may come from one of the loop's last turns.
        core?.workers.shutdown()
        core?.control?.stop()
        // The lock comes last: with the loop the inbox has ended. Tasks that are about to end may still hold the core.
        // On the loop's own thread the loop is not over yet, and the lock goes with the core.
        if !self.loop.isCurrent { core?.lock?.release() }
    }
}
