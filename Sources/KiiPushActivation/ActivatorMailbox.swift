import KiiPushCore

/// What waits for an activator's thread, and that thread's beginning and end.
final class ActivatorMailbox: Sendable {
    /// An attempt to deliver a message.
    struct Delivery: Sendable {
        let payload: [UInt8]
        let context: DeliveryContext
        let completion: FetchCompletion
        /// Until when the program may keep it.
        let deadline: MonotonicInstant
        /// Variables for the process that is started with it.
        var environment: [String: String] = [:]
        /// Told, before ``completion``, how the process ended that was started with it.
        var whenEnded: (@Sendable (ChildProcess.Ending) -> Void)?
    }

    struct Content: Sendable {
        var deliveries: [Delivery] = []
        var endings: [(processID: Int32, ending: ChildProcess.Ending)] = []
        var whenStopped: [@Sendable () -> Void] = []
        var isStopping = false
    }

    private enum Phase: Sendable {
        /// Nothing was ever put in.
        case idle
        /// A thread takes what is put in.
        case running
        /// The activator was stopped, and nothing runs any more.
        case over
    }

    /// The agent ends with its number, whoever keeps the activator.
    private struct AgentsBadge {
        weak var badge: (any KeptBadge)?
    }

    let configuration: Activator.Configuration
    let lifecycle: AgentLifecycle?
    let report: @Sendable (Activator.Event) -> Void
    private let state = Locked((content: Content(), phase: Phase.idle, bell: Bell?.none))
    private let keptBadge = Locked(AgentsBadge())

    init(
        configuration: Activator.Configuration, lifecycle: AgentLifecycle?,
        report: @escaping @Sendable (Activator.Event) -> Void
    ) {
        self.configuration = configuration
        self.lifecycle = lifecycle
        self.report = report
    }

    func deliver(_ payload: [UInt8], _ context: DeliveryContext, _ completion: FetchCompletion) {
        let deadline = context.deadlineInstant
        self.deliver(Delivery(payload: payload, context: context, completion: completion, deadline: deadline))
    }

    func deliver(_ delivery: Delivery) { self.put { $0.deliveries.append(delivery) } }
    /// Starts the thread, which ends what an earlier run has left, without anything to deliver.
    func begin() { self.put { _ in } }

    /// The number on the icon of the agent whose messages come; `nil` where that is not known.
    var badge: (any KeptBadge)? { self.keptBadge.withLock { $0.badge } }

    /// Has the program told of this number.
    func follow(_ badge: any KeptBadge) {
        self.keptBadge.withLock { $0.badge = badge }
        badge.onChange { [weak self] in self?.state.withLock { $0.bell }?.ring() }
    }

    func ended(_ processID: Int32, _ ending: ChildProcess.Ending) {
        self.put { $0.endings.append((processID, ending)) }
    }

    /// - Parameter whenStopped: called when nothing runs any more.
    func stop(whenStopped: (@Sendable () -> Void)?) {
        self.put { content in
            content.isStopping = true
            if let whenStopped { content.whenStopped.append(whenStopped) }
        }
    }

    private func put(_ change: (inout Content) -> Void) {
        let (phase, isStopping, bell) = self.state.withLock { state in
            defer { if state.phase == .idle { state.phase = .running } }
            change(&state.content)
            return (state.phase, state.content.isStopping, state.bell)
        }
        switch phase {
        // Without a bell the thread is about to begin, and begins with what was put in.
        case .running: bell?.ring()
        case .idle where !isStopping:
            do {
                try self.start()
            } catch {
                // The machine gives no thread, or no descriptors.
                self.end(.idle) { $0.postpone("\(error)") }
            }
        case .idle, .over: self.close()
        }
    }

    private func start() throws {
        // What reads standard input has no channel that would be waited for.
        let bell = try Bell(watchesDescriptors: self.configuration.input == .descriptor)
        self.state.withLock { $0.bell = bell }
        try OSThread(name: "kii-activator") { [self] in ActivatorThread(mailbox: self, bell: bell).run() }.detach()
    }

    private func end(_ phase: Phase, _ refuse: (FetchCompletion) -> Void) {
        let content = self.state.withLock { state in
            state.phase = phase
            defer { state.content = Content() }
            return state.content
        }
        for delivery in content.deliveries { refuse(delivery.completion) }
        for notify in content.whenStopped { notify() }
    }

    /// For the thread.
    func take() -> Content {
        self.state.withLock { state in
            defer { (state.content.deliveries, state.content.endings) = ([], []) }
            return state.content
        }
    }

    /// The thread has nothing to do any more; what comes from now on is refused.
    func close() { self.end(.over) { $0.fail(because: ActivationQueue.stopped) } }
}
