/// One receiver of pushes: signs in, registers an installation, subscribes, receives, and calls its handler.
///
/// ```swift
/// let runtime = try PushRuntime()
/// let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler)
/// try await agent.run()
/// ```
///
/// ``run()`` goes on until its task is cancelled, reconnecting as often as needed.
public final class PushAgent: Sendable {
    /// The identity of an agent, its subscriptions and its way to the broker.
    public struct Configuration: Sendable {
        /// The agent's name within its runtime, 1 to 64 of letters, digits, `-`, `_` and `.`; names the file that keeps
        /// its tokens. Default `default`.
        public var name: String
        /// The Kii app.
        public var app: KiiApp
        /// The account that the agent signs in with.
        public var account: KiiAccount
        /// The topics and buckets that the agent subscribes to whenever it runs. It leaves other subscriptions alone.
        /// Default: none; direct pushes arrive without a subscription. If a topic does not exist yet, the agent retries
        /// until it does.
        public var subscriptions: [SubscriptionTarget]
        /// Whether the agent speaks to the broker over TLS. Default: yes.
        public var usesTLS = true
        /// The way that carries MQTT to the broker. Default: TCP, and WebSocket where TCP does not get through.
        public var transport = Transport.automatic
        /// Whether the installation is for development; senders may leave such installations out. Default: no.
        public var isDevelopment = false
        /// Further members of the call that makes the installation, for a server with extensions: a JSON object. If the
        /// members differ from those on file, the agent makes the installation again. Default `nil`: the members that
        /// it was made with. ``PushAgent/run()`` refuses members that the agent sets itself: `deviceType`,
        /// `development`, `installationRegistrationID`, `userID` and `thingID`.
        public var installationMembers: JSONValue?
        /// The time without sending after which the agent asks the broker whether it is there: up to 18 h; zero or less
        /// for never. Default 45 s, since many load balancers end a connection that carries nothing for 60 s, and some
        /// after 50 s.
        ///
        /// The agent waits for the answer as long again, 20 s at most, and then drops the connection: by default after
        /// 65 s of silence. If the broker's machine takes no more bytes, the agent notices within that wait alone (5 s
        /// or more). After a sleep of this machine it notices within 5 s.
        public var keepAlive = Duration.seconds(45)

        /// Makes a configuration with the defaults for an app and an account.
        public init(
            name: String = "default", app: KiiApp, account: KiiAccount, subscriptions: [SubscriptionTarget] = []
        ) {
            self.name = name
            self.app = app
            self.account = account
            self.subscriptions = subscriptions
        }
    }

    package let runtime: PushRuntime
    let configuration: Configuration
    let enrolment: Enrolment
    package let receiver: any Receiver
    package let lifecycle: AgentLifecycle?
    let desk: PresentationDesk
    package let keptBadge: AgentBadge
    package let hub: EventHub
    /// The link to the broker while the agent receives.
    let link = Locked<LoopIsolated<BrokerLink>?>(nil)
    let reconnect: ReconnectPolicy.Configuration
    let subscriptionRetry: Backoff
    let feed: MessageFeed?
    private let isBusy = Locked(false)

    /// Makes an agent; nothing happens before ``register(replacing:)`` or ``run()``.
    ///
    /// - Parameters:
    ///   - runtime: the runtime that the agent shares with the other agents of the process.
    ///   - configuration: the agent's identity and subscriptions. A name that is no file name is a programmer error.
    ///   - handler: receives the agent's messages. If it implements several forms, the agent calls the one with a
    ///     completion, else the async one, else the deprecated one. If it is also a ``UserActionHandler``, a
    ///     ``ThingCommandHandler`` or an ``OpenedNotificationHandler``, the agent calls those methods as well.
    ///   - lifecycle: the program's state between the user and the background. Default (`nil`): every message reaches
    ///     the handler.
    ///   - presenter: shows alerts that arrive in the background. Default (`nil`): they reach the handler instead.
    ///   - feed: the process that hands messages over. Default (`nil`): the agent receives from the broker.
    public convenience init(
        runtime: PushRuntime, configuration: Configuration, handler: some NotificationHandler,
        lifecycle: AgentLifecycle? = nil, presenter: (any NotificationPresenter)? = nil, feed: MessageFeed? = nil
    ) {
        self.init(
            runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle,
            presenter: presenter, reconnect: .init(), feed: feed)
    }

    /// Makes an agent whose handler is a closure; nothing happens before ``register(replacing:)`` or ``run()``.
    ///
    /// ```swift
    /// let agent = PushAgent(runtime: runtime, configuration: configuration) { message, context in
    ///     print(message.kind)
    ///     return .newData
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - runtime: the runtime that the agent shares with the other agents of the process.
    ///   - configuration: the agent's identity and subscriptions. A name that is no file name is a programmer error.
    ///   - lifecycle: the program's state between the user and the background. Default (`nil`): every message reaches
    ///     the handler.
    ///   - presenter: shows alerts that arrive in the background. Default (`nil`): they reach the handler instead.
    ///   - feed: the process that hands messages over. Default (`nil`): the agent receives from the broker.
    ///   - handler: handles one message and returns the result, within 30 s. The agent calls it as it calls an
    ///     ``AsyncRemoteNotificationHandler``; a thrown error means "try again".
    public convenience init(
        runtime: PushRuntime, configuration: Configuration, lifecycle: AgentLifecycle? = nil,
        presenter: (any NotificationPresenter)? = nil, feed: MessageFeed? = nil,
        handler: @escaping @Sendable (ReceivedMessage, DeliveryContext) async throws -> FetchResult
    ) {
        self.init(
            runtime: runtime, configuration: configuration, handler: ClosureHandler(body: handler),
            lifecycle: lifecycle, presenter: presenter, feed: feed)
    }

    package init(
        runtime: PushRuntime, configuration: Configuration, handler: some NotificationHandler,
        lifecycle: AgentLifecycle? = nil, presenter: (any NotificationPresenter)? = nil,
        reconnect: ReconnectPolicy.Configuration,
        subscriptionRetry: Backoff = PendingSubscription.pauses,
        feed: MessageFeed? = nil, state: (any AgentStatePlace)? = nil
    ) {
        precondition(AgentStateFile.isValidName(configuration.name), "an agent's name has to be a file name")
        self.runtime = runtime
        self.configuration = configuration
        self.feed = feed
        self.lifecycle = lifecycle
        self.reconnect = reconnect
        self.subscriptionRetry = subscriptionRetry
        let directory = runtime.configuration.stateDirectory
        let hub = EventHub(counting: runtime.listeners)
        self.hub = hub
        let badge = AgentBadge(
            stateDirectory: directory, name: configuration.name, loop: runtime.loop, feed: feed, hub: hub)
        self.keptBadge = badge
        (handler as? any BadgeFollower)?.follow(badge)
        // The process that keeps the messages presents their alerts.
        self.desk = PresentationDesk(presenter: feed == nil ? presenter : nil, lifecycle: lifecycle)
        self.receiver = ReceptionReceiver(
            handler: handler, lifecycle: lifecycle, desk: self.desk, applyBadge: { badge.apply($0, $1) })
        let place =
            state
            ?? AgentStateFile(
                stateDirectory: directory, name: configuration.name,
                obstacle: runtime.configuration.environment.stateObstacle)
        self.enrolment = Enrolment(
            client: runtime.client(for: configuration.app), configuration: configuration,
            store: AgentStateStore(place: place, loop: runtime.loop, hub: hub),
            refusalsBeforeGivingUp: reconnect.refusalsBeforeGivingUp)
    }

    /// A client of the REST API for this agent's app.
    public var client: KiiClient { self.enrolment.client }

    /// The events from now on. Each call makes a stream of its own, which keeps the newest 4,096 events for a slow
    /// listener.
    public var events: AsyncStream<PushEvent> { self.hub.stream() }

    /// Calls `observer` with every event from now on, as long as the agent lives: for counters, which must miss none.
    ///
    /// The agent calls it on the thread of the event, which waits until it returns, and perhaps on several threads at
    /// once. The events of one message come in their order. A slow reader takes ``events`` instead.
    public func observe(_ observer: @escaping @Sendable (PushEvent) -> Void) { self.hub.observe(observer) }

    /// The agent's registration on file; `nil` when it has not registered. Sends no request and takes no lock.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    public func registration() throws(PushAgentError) -> Registration? {
        try self.enrolment.stateOnFile()?.registration
    }

    /// The registration on file of the agent `name` in a state directory; `nil` when it has not registered. It sends no
    /// request, takes no lock and starts nothing, so a program may call it while the agent runs in another process.
    ///
    /// - Throws: ``FileError``.
    public static func registration(
        of name: String = "default", in directory: String
    ) throws(FileError) -> Registration? {
        try AgentStateFile(stateDirectory: directory, name: name).load()?.registration
    }

    /// The session of this agent's user or thing, for the program's own calls. It signs in, refreshes and stores tokens
    /// as the agent does. It stays valid until ``register(replacing:)`` begins anew.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    public func session() throws(PushAgentError) -> KiiSession { try self.enrolment.session() }

    /// Runs `body` unless the agent is registering or running already; then it throws `alreadyRunning`.
    func exclusively<Result>(_ body: () async throws -> Result) async throws -> Result {
        let isFree = self.isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { throw PushAgentError.alreadyRunning }
        defer { self.isBusy.withLock { $0 = false } }
        return try await body()
    }
}
