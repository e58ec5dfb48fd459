/// What the agents of one process share: one network thread, one inbox, one lock on the state directory.
///
/// Any number of agents may run on one runtime. Creating it starts its thread; the state directory is locked when the first
/// agent runs, or opens its session at the broker while it registers, and stays so until ``shutdown()``. Two processes
/// cannot receive with one state directory at once; what is on file (``PushAgent/registration()``) may be read meanwhile,
/// and so may a token be got.
public final class PushRuntime: Sendable {
    /// How a runtime stores and connects.
    public struct Configuration: Sendable {
        /// Where messages are kept until their handler has answered.
        public enum Inbox: Sendable, Hashable {
            /// In a SQLite file: a message is acknowledged when it is on the disk, and is never lost after that.
            case file
            /// In memory: a message is acknowledged when its handler has answered (three attempts, 60 s in all). What the
            /// handler gave up on, and a message that ends the process, are not kept.
            case memory
        }

        /// The directory for the inbox, the lock and the tokens. Made with mode 0700 where it is missing. Default:
        /// ``init(stateDirectory:)``.
        public var stateDirectory: String
        /// Where messages are kept. Default: ``Inbox/file``.
        public var inbox = Inbox.file
        /// How many handlers run at once, 1 to 10,000. As many threads are started. Default 4.
        public var concurrentHandlers = 4
        /// The pauses between the attempts to deliver a message, counted from the end of the attempt that failed: one
        /// attempt more than there are pauses, then it is a dead letter. A message that ends the process is given up on
        /// after as many attempts. Each of 0 to 7 days, 100 at most; none at all means a single attempt.
        ///
        /// Default (`nil`): 1 s, 5 s, 30 s, 5 min and 30 min; with ``Inbox/memory``, where no attempt starts later than
        /// 60 s after the first, 1 s and 5 s.
        public var retryDelays: [Duration]?
        /// Whether a message that waits for its retry holds back its successors from the same source (topic, bucket, or
        /// sender of a direct push), also in the next process. A source may then stand still for as long as
        /// ``retryDelays`` add up to. Default: no.
        public var isStrictlyOrdered = false
        /// How much is kept, and where.
        public var bounds = Bounds()
        /// A file of PEM certificates to trust instead of the system's, for the REST API and the broker. Default: none.
        public var certificateAuthorityFile: String?
        /// A file with the PEM certificate to show to a cloud or a broker that asks for one, and after it those between it and
        /// its authority. Read for each connection, so a renewed one needs no restart. Default: none.
        public var clientCertificateFile: String?
        /// A file with the PEM key of ``clientCertificateFile``, without a password. It must belong to this user, with mode
        /// 0600 or less; a file below `$CREDENTIALS_DIRECTORY` may be the service manager's. Default (`nil`): the key is in
        /// the certificate's file.
        public var clientKeyFile: String?
        /// Whether certificates are verified. Turning it off lets anyone on the way read and forge everything.
        package var verifiesCertificates = true
        /// The URL of a proxy (`http`, `https`, `socks5`, …) for the REST API and the broker. Default: none; the
        /// environment is not looked at.
        public var proxy: String?
        /// The field `User-Agent` of requests to the REST API and to a proxy: printable ASCII. Default: this library and
        /// libcurl with their versions, such as `KiiPushCore/0.1.0 libcurl/7.88.1`.
        public var userAgent = UserAgent.ofLibrary
        /// How long one exchange with the REST API may take. Default 30 s.
        package var callTimeout = Duration.seconds(30)
        /// Whether other processes of the same user may watch what arrives and have dead letters retried or dropped, as
        /// `kii-push listen` and `kii-push inbox` do: over the unix socket `control.sock` in the state directory, mode
        /// 0600. With ``Inbox/memory`` they may watch alone. Default: no.
        public var hasControlSocket = false
        /// How long a stop waits for running handlers. Default 10 s. Messages that are not finished by then are
        /// delivered again by the next run.
        public var shutdownGrace = Duration.seconds(10)
        /// For tests.
        package var environment = RuntimeEnvironment()

        /// The defaults.
        ///
        /// - Parameter stateDirectory: Default `nil`: `$STATE_DIRECTORY` (which systemd sets), else
        ///   `$XDG_STATE_HOME/kii-push`, else `~/.local/state/kii-push`; `/var/lib/kii-push` when not even a home is known.
        public init(stateDirectory: String? = nil) {
            self.stateDirectory =
                stateDirectory ?? StateDirectory.standard(environment: environmentVariable) ?? "/var/lib/kii-push"
        }
    }

    /// What is made when the first agent needs it.
    struct Core: Sendable {
        let pipeline: LoopIsolated<Pipeline>
        let reactions: Reactions
        let workers: Workers
        let lock: FileLock?
        let control: ControlServer?
        /// Whether messages are kept in a file.
        let isDurable: Bool
        /// What happened while opening, for every agent to tell.
        let events: [PushEvent]
    }

    /// How this runtime stores and connects.
    package let configuration: Configuration
    /// The network thread; for tests that keep it busy.
    package let loop: EventLoop
    private let core = Locked<Core?>(nil)
    /// Opens the store, where it is neither a file nor memory.
    package let shared: (any SharedStore)?
    /// Who waits for it.
    let opening = Locked<[OneShot<Result<Core, any Error>>]>([])
    /// What waits for a time while no connection stands.
    let waits = InterruptibleWaits()
    /// Who hears of an installation's messages, by the store's key.
    let hubs = Locked<[Int64: EventHub]>([:])
    /// How many listen to the hubs of agents.
    package let listeners = Locked(0)
    /// By the IDs of the installations that are received as: what takes over another one's messages. Called on the loop's
    /// thread.
    let adopters = Adopters([:])
    typealias Adopters = Locked<[String: @Sendable (Adoption) -> Void]>

    var opened: Core? {
        get { self.core.withLock { $0 } }
        set { self.core.withLock { $0 = newValue } }
    }

    /// Starts the network thread.
    ///
    /// - Throws: ``PushAgentError/invalidConfiguration(setting:reason:)`` for a number that cannot be meant;
    ///   ``TransportError`` with code `invalidConfiguration` for a proxy, a user agent or a file of certificates that cannot
    ///   be used, and for a key that is open to others.
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

    /// Has delivery look at its clock: for tests that have moved it.
    package func deliveryTimeChanged() { self.loop.submit {} }

    /// Runs `body` on the loop's thread.
    ///
    /// - Throws: ``TransportError`` with code `shutDown`; what opening throws.
    func onPipeline<Result: Sendable>(_ body: @escaping @Sendable (Pipeline) -> Result) async throws -> Result {
        let core = try await self.open()
        return try await self.loop.run { body(core.pipeline.value) }
    }

    /// Waits until it has come to the event, for so long at most. Returns at once when the runtime has ended.
    ///
    /// - Returns: whether it has come to that.
    @discardableResult
    func wait(for event: Wait.Event, within limit: Duration) async -> Bool {
        guard let core = self.opened else { return false }
        let deadline = self.configuration.environment.clocks.monotonic() + limit
        return await self.loop.wait(for: event, in: core.pipeline, until: deadline)
    }

    private func stop() {
        // Before the loop: its last turn writes what was answered until then.
        self.opened?.workers.shutdown()
        self.loop.shutdown()
        self.finishOpening(.failure(TransportError.shutDown))
        let core = self.core.withLock { $0.take() }
        // Made in one of the loop's last turns.
        core?.workers.shutdown()
        core?.control?.stop()
        // Last: with the loop the inbox has ended. Tasks that are about to end may still hold the core. On the loop's own
        // thread the loop is not over yet, and the lock goes with the core.
        if !self.loop.isCurrent { core?.lock?.release() }
    }
}
