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
    /// Who an agent is and what it receives.
    public struct Configuration: Sendable {
        /// The agent's name within its runtime, 1 to 64 of letters, digits, `-`, `_` and `.`; names the file that keeps
        /// its tokens. Default `default`.
        public var name: String
        /// The Kii app.
        public var app: KiiApp
        /// How the agent signs in.
        public var account: KiiAccount
        /// What is subscribed to, whenever the agent runs. What is not listed is left alone. Default: nothing; direct
        /// pushes arrive without a subscription. A topic that is not there yet is tried again until it is.
        public var subscriptions: [SubscriptionTarget]
        /// Whether the broker is spoken to over TLS. Default: yes.
        public var usesTLS = true
        /// The way that carries MQTT to the broker. Default: TCP, and WebSocket where TCP does not get through.
        public var transport = Transport.automatic
        /// Whether the installation is one for development, which a sender may leave out. Default: no.
        public var isDevelopment = false
        /// Further members of the call that makes the installation, for a server with extensions: a JSON object. With
        /// other members than before, the agent makes the installation again. Default `nil`: the members it was made with.
        /// ``PushAgent/run()`` refuses those that the agent sets itself: `deviceType`, `development`,
        /// `installationRegistrationID`, `userID` and `thingID`.
        public var installationMembers: JSONValue?
        /// How long the agent may send nothing before it asks the broker whether it is there; up to 18 h, zero or less
        /// never. Default 45 s, since many load balancers end a connection that carries nothing for 60 s, and some after
        /// 50 s. A dead connection is noticed when the answer has not come within as long again, but 20 s at most: by
        /// default after 65 s of silence. When the broker's machine takes no bytes any more, that
        /// shows within the second time alone (5 s or more); after a sleep of this machine, within 5 s.
        public var keepAlive = Duration.seconds(45)

        /// The defaults for an app and an account.
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
    /// The way to the broker while the agent receives.
    let link = Locked<LoopIsolated<BrokerLink>?>(nil)
    let reconnect: ReconnectPolicy.Configuration
    let subscriptionRetry: Backoff
    let feed: MessageFeed?
    private let isBusy = Locked(false)

    /// Makes an agent; nothing happens before ``register(replacing:)`` or ``run()``.
    ///
    /// - Parameters:
    ///   - runtime: what it shares with the other agents of the process.
    ///   - configuration: who it is. A name that is no file name is a programmer error.
    ///   - handler: what its messages are handed to. Of several forms that it implements the one with a completion is
    ///     called, else the async one, else the deprecated one. Where it is a ``UserActionHandler``, a
    ///     ``ThingCommandHandler`` or an ``OpenedNotificationHandler`` too, it is told of those things as well.
    ///   - lifecycle: where the program stands between the user and the background. Default (`nil`): every message reaches
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
    ///   - runtime: what it shares with the other agents of the process.
    ///   - configuration: who it is. A name that is no file name is a programmer error.
    ///   - lifecycle: where the program stands between the user and the background. Default (`nil`): every message reaches
    ///     the handler.
    ///   - presenter: shows alerts that arrive in the background. Default (`nil`): they reach the handler instead.
    ///   - feed: the process that hands messages over. Default (`nil`): the agent receives from the broker.
    ///   - handler: handles one message and returns what became of it, within 30 s. It is called as
    ///     ``AsyncRemoteNotificationHandler`` is; a thrown error means "try again".
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

    /// What happens from now on. Each call makes a stream of its own, which keeps the newest 4,096 events for a
    /// listener that is slow.
    public var events: AsyncStream<PushEvent> { self.hub.stream() }

    /// Calls `observer` with everything that happens from now on, as long as the agent lives: for counters, which must
    /// not miss any of it.
    ///
    /// It is called on the thread where something happened, which goes on when it returns, and perhaps on several at once;
    /// what happens to one message comes in its order. Whoever may be slow reads ``events`` instead.
    public func observe(_ observer: @escaping @Sendable (PushEvent) -> Void) { self.hub.observe(observer) }

    /// What is on file about this agent; `nil` when it has not registered. Asks nobody and locks nothing.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    public func registration() throws(PushAgentError) -> Registration? {
        try self.enrolment.stateOnFile()?.registration
    }

    /// What is on file about the agent `name` in a state directory; `nil` when it has not registered. Asks nobody, locks
    /// nothing and starts nothing, so it may be called while the agent runs in another process.
    ///
    /// - Throws: ``FileError``.
    public static func registration(
        of name: String = "default", in directory: String
    ) throws(FileError) -> Registration? {
        try AgentStateFile(stateDirectory: directory, name: name).load()?.registration
    }

    /// The session of this agent's user or thing, for calls of one's own; it signs in, refreshes and stores as the agent
    /// itself does. It stays good until ``register(replacing:)`` begins anew.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    public func session() throws(PushAgentError) -> KiiSession { try self.enrolment.session() }

    /// Runs `body` alone: an agent registers or runs once at a time.
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
