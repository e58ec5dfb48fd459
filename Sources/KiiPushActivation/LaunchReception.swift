public import KiiPushCore

extension MessageFeed {
    /// The ``Activator`` that started this process, for `PushAgent(…, feed: .activator)`. `nil` in any other process:
    /// the agent then receives from the broker.
    ///
    /// The agent's `run()` returns when the activator stops or ends. If several agents of the process have this feed,
    /// the first agent that runs gets all messages, and `run()` of the others throws ``PushAgentError/feed(reason:)``.
    /// `run()` also throws this error if `KII_PUSH_LAUNCH_FD` names no activator's socket.
    ///
    /// The first access reads the first message, as `LaunchOptions.current` does.
    public static var activator: MessageFeed? {
        let inherited = LaunchChannel.inherited
        MessageFeed.isUnclaimed.withLock { $0 = false }
        return switch inherited {
        case .success(let channel): channel.map { MessageFeed($0) }
        case .failure(let error): MessageFeed(deliver: { _ in throw error })
        }
    }

    package init(_ channel: LaunchChannel) {
        self.init(
            badge: channel.first.badge, setBadge: { channel.send(.badge($0)) },
            deliver: { try await $0.receive(from: channel) })
    }
}

extension PushAgent {
    fileprivate func receive(from channel: LaunchChannel) async throws {
        guard channel.take() else {
            throw PushAgentError.feed(
                reason: "another agent of this process receives the messages that it was started for; "
                    + "run one agent, once")
        }
        var configuration = self.runtime.configuration.delivery
        configuration.retryDelays = []
        configuration.totalLimit = nil
        let reception = try await LaunchReception(self, channel, configuration)
        let (ended, sent) = (OneShot<PushAgentError?>(), OneShot<Void>())
        let patience = self.runtime.configuration.shutdownGrace
        do throws(SystemError) {
            try OSThread(name: "kii-launch-out") {
                channel.sendRest(patience: patience)
                sent.resume(())
            }.detach()
            // `ready` is the first line. Until it arrives, the activator takes an exit status as the answer to the
            // first message.
            channel.send(.ready(configuration.concurrentHandlers, wantsBadge: channel.first.badge != nil))
            try OSThread(name: "kii-launch") { ended.resume(reception.run()) }.detach()
        } catch {
            channel.close()
            channel.sendRest(patience: .zero)
            throw error
        }
        async let _ = self.tellStates(channel)
        let error = await ended.value(onCancel: nil)
        await reception.end()
        channel.close()
        await sent.value()
        if let error { throw error }
    }

    private func tellStates(_ channel: LaunchChannel) async {
        guard let lifecycle else { return }
        for await state in lifecycle.states { channel.send(.state(state)) }
    }
}

private final class LaunchReception: Sendable {
    private let agent: PushAgent
    private let channel: LaunchChannel
    private let loop: EventLoop
    private let store: LoopIsolated<LaunchStore>
    private let pipeline: LoopIsolated<Pipeline>
    private let workers: Workers
    private let hubs = Locked<[Int64: EventHub]>([:])

    init(_ agent: PushAgent, _ channel: LaunchChannel, _ configuration: DeliveryConfiguration) async throws {
        self.agent = agent
        self.channel = channel
        let loop = agent.runtime.loop
        self.loop = loop
        (self.store, self.pipeline, self.workers) = try await loop.run { [hubs = self.hubs] in
            let store = LaunchStore { channel.send($0) }
            let pipeline = Pipeline(
                store: store, on: loop, configuration: configuration, limits: .file, clock: { .now() },
                observer: HubObserver(hubs: hubs, keeping: .elsewhere, listeners: agent.runtime.listeners),
                wake: loop.waking, threads: DeliveryThreads())
            return (LoopIsolated(confining: store, to: loop), loop.drive(pipeline), pipeline.workers)
        }
    }

    func run() -> PushAgentError? {
        var opened: Set<String> = []
        // Does not set the badge to the first message's number: the badge began with that number, and the program may
        // have changed the badge since.
        self.take(self.channel.first, &opened)
        do throws(PushAgentError) {
            while let line = try self.channel.next() {
                switch line {
                case .badge(let number): self.agent.keptBadge.told(number)
                case .message(let message):
                    if let number = message.badge { self.agent.keptBadge.told(number) }
                    self.take(message, &opened)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    private func take(_ message: ActivationMessage, _ opened: inout Set<String>) {
        let id = "\(message.id)@\(message.installationID)"
        if message.userAction?.opensProgram == true, opened.insert(id).inserted { self.bringForward(message) }
        self.deliver(message)
    }

    /// Brings the program to the foreground before it gets a message that the user opened. iOS has the same order:
    /// first `willEnterForeground`, then the message, in state inactive.
    private func bringForward(_ message: ActivationMessage) {
        guard let decoded = try? ReceivedMessage(payload: message.payload) else { return }
        self.agent.lifecycle?.userDidOpen(decoded)
    }

    private func deliver(_ message: ActivationMessage) {
        let answerBy = MonotonicInstant.now() + message.timeRemaining
        self.loop.submit { [self] in
            let (store, pipeline) = (self.store.value, self.pipeline.value)
            let key = store.key(of: message.installationID)
            let isNew = self.hubs.withLock { hubs in hubs.updateValue(self.agent.hub, forKey: key) == nil }
            if isNew { pipeline.attach(installation: key, id: message.installationID, receiver: self.agent.receiver) }
            var stored = StoredMessage(
                sequence: message.id, installation: key, topic: "", payload: message.payload,
                receivedAt: message.receivedAt, state: .waiting, attempts: message.attempt - 1,
                openedBy: message.userAction, answerBy: answerBy)
            stored.source = DecodedContent(stored).source ?? 0
            store.add(stored)
            pipeline.appeared(stored)
        }
    }

    func end() async {
        try? await self.loop.run { [pipeline = self.pipeline] in pipeline.value.drain() }
        let deadline = MonotonicInstant.now() + self.agent.runtime.configuration.shutdownGrace
        _ = await self.loop.wait(for: .calls(of: nil), in: self.pipeline, until: deadline)
        self.workers.shutdown()
        try? await self.loop.run {}
        let open = try? await self.loop.run { [store = self.store] in store.value.openMessages }
        for sequence in open ?? [] { self.channel.send(.verdict(id: sequence, .result(.failed))) }
    }
}
