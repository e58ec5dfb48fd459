/// Receives pushes: signs in, registers an installation, subscribes, and calls its handler. ``run()`` reconnects after
/// a loss, until its task is cancelled.
///
/// ```swift
/// let runtime = try PushRuntime()
/// let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler)
/// try await agent.run()
/// ```
public final class PushAgent: Sendable {
    /// The settings of an agent: its account, its subscriptions, its connection.
    public struct Configuration: Sendable {
        /// The agent's name, different for each agent of a runtime; names the file with its tokens. 1 to 64 letters,
        /// digits, `-`, `_` and `.`; does not begin with `.`. Default `default`.
        public var name: String
        /// The Kii app.
        public var app: KiiApp
        /// The account that the agent signs in with.
        public var account: KiiAccount
        /// The topics and buckets that the agent subscribes to when it runs. It retries until a topic exists, and
        /// leaves other subscriptions alone. Default: none; direct pushes need no subscription.
        public var subscriptions: [SubscriptionTarget]
        /// Whether the agent uses TLS to the broker. Default: yes.
        public var usesTLS = true
        /// The carrier of MQTT. Default: TCP, or WebSocket if TCP does not get through.
        public var transport = Transport.automatic
        /// Whether the installation is for development; senders may exclude such installations. Default: no.
        public var isDevelopment = false
        /// Further members of the request that makes the installation, for a server with extensions: a JSON object. A
        /// change makes the installation again. `nil` (default) keeps the members on file.
        ///
        /// ``PushAgent/run()`` and ``PushAgent/register(replacing:)`` refuse members that the agent sets itself:
        /// `deviceType`, `development`, `installationRegistrationID`, `userID` and `thingID`.
        public var installationMembers: JSONValue?
        /// The time without sending after which the agent sends PINGREQ: up to 18 h; zero or less for never. Default 45
        /// s: some load balancers close an idle connection after 50 s.
        ///
        /// The agent drops the connection if PINGRESP does not come within the same time, 20 s at most: by default
        /// after 65 s of silence. It also drops the connection if the broker's machine acknowledges no sent bytes
        /// within that time, 5 s at least. After this machine has slept, the broker has 5 s to answer.
        public var keepAlive = Duration.seconds(45)

        /// Makes a configuration with default settings.
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
    let link = Locked<LoopIsolated<BrokerLink>?>(nil)
    let reconnect: ReconnectPolicy.Configuration
    let subscriptionRetry: Backoff
    let feed: MessageFeed?
    private let isBusy = Locked(false)

    /// Makes an agent, which does nothing before ``register(replacing:)`` or ``run()``.
    ///
    /// - Parameters:
    ///   - runtime: the runtime, which several agents can share.
    ///   - configuration: the agent's settings. A name that is no file name is a programmer error.
    ///   - handler: gets the messages. Of several forms, the agent calls the one with a completion, else the async one,
    ///     else the deprecated one. If the handler is also a ``UserActionHandler``, a ``ThingCommandHandler`` or an
    ///     ``OpenedNotificationHandler``, the agent calls those methods too.
    ///   - lifecycle: tells whether the program is in the background. Default (`nil`): every message reaches the
    ///     handler.
    ///   - presenter: shows alerts that arrive in the background. Default (`nil`): they reach the handler. With a
    ///     feed, the feed's process shows the alerts, and the agent does not use this presenter.
    ///   - feed: another process that receives for this agent. Default (`nil`): the agent receives from the broker.
    public convenience init(
        runtime: PushRuntime, configuration: Configuration, handler: some NotificationHandler,
        lifecycle: AgentLifecycle? = nil, presenter: (any NotificationPresenter)? = nil, feed: MessageFeed? = nil
    ) {
        self.init(
            runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle,
            presenter: presenter, reconnect: .init(), feed: feed)
    }

    /// Makes an agent whose handler is a closure. See ``init(runtime:configuration:handler:lifecycle:presenter:feed:)``
    /// for the other parameters.
    ///
    /// The closure handles one message and returns the result, within 30 s. If it throws, the agent retries the
    /// message.
    ///
    /// ```swift
    /// let agent = PushAgent(runtime: runtime, configuration: configuration) { message, context in
    ///     print(message.kind)
    ///     return .newData
    /// }
    /// ```
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
        // The feed's process presents the alerts.
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

    /// A client of the REST API for the agent's app.
    public var client: KiiClient { self.enrolment.client }

    /// A stream of the events from now on. Each call makes its own stream, which buffers the newest 4,096 events for a
    /// slow reader.
    public var events: AsyncStream<PushEvent> { self.hub.stream() }

    /// Calls `observer` with every event from now on, until the agent is released.
    ///
    /// The thread that reports the event calls the observer, and waits until the observer returns. Several threads may
    /// call it at once. The events of one message come in order.
    public func observe(_ observer: @escaping @Sendable (PushEvent) -> Void) { self.hub.observe(observer) }

    /// The registration on file; `nil` before the agent has registered. Sends no request and takes no lock.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    public func registration() throws(PushAgentError) -> Registration? {
        try self.enrolment.stateOnFile()?.registration
    }

    /// The registration on file of an agent in a state directory; `nil` before the agent has registered. The agent may
    /// run in another process: this method sends no request and takes no lock.
    ///
    /// - Throws: ``FileError``.
    public static func registration(
        of name: String = "default", in directory: String
    ) throws(FileError) -> Registration? {
        try AgentStateFile(stateDirectory: directory, name: name).load()?.registration
    }

    /// The session of the agent's user or thing, for the program's own calls. It signs in, renews and stores tokens as
    /// the agent does. Valid until ``register(replacing:)`` discards the registration.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    public func session() throws(PushAgentError) -> KiiSession { try self.enrolment.session() }

    /// Throws `alreadyRunning` if the agent is registering, running or probing the broker.
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
