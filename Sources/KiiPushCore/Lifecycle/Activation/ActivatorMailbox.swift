/// What waits for an activator's thread, and that thread's beginning and end.
final class ActivatorMailbox: Sendable {
    /// An attempt to deliver a message.
    struct Delivery: Sendable {
        let message: ReceivedMessage
        let context: DeliveryContext
        let completion: FetchCompletion
    }

    /// What has been put in and not taken out.
    struct Content: Sendable {
        var deliveries: [Delivery] = []
        var endings: [(processID: Int32, ending: SpawnedProcess.Ending)] = []
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

    let configuration: Activator.Configuration
    let report: @Sendable (Activator.Event) -> Void
    private let state = Locked((content: Content(), phase: Phase.idle))
    /// Wakes the thread.
    private let bell: Result<Bell, SpawnError>

    init(configuration: Activator.Configuration, report: @escaping @Sendable (Activator.Event) -> Void) {
        self.configuration = configuration
        self.report = report
        self.bell = Result { () throws(SpawnError) in try Bell(for: configuration.command.first ?? "a program") }
    }

    // MARK: - Putting in

    func deliver(_ message: ReceivedMessage, _ context: DeliveryContext, _ completion: FetchCompletion) {
        let delivery = Delivery(message: message, context: context, completion: completion)
        self.put { $0.deliveries.append(delivery) }
    }

    func ended(_ processID: Int32, _ ending: SpawnedProcess.Ending) {
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
        let (phase, isStopping) = self.state.withLock { state in
            defer { if state.phase == .idle { state.phase = .running } }
            change(&state.content)
            return (state.phase, state.content.isStopping)
        }
        switch phase {
        case .running: if case .success(let bell) = self.bell { bell.ring() }
        case .idle where !isStopping:
            do throws(SpawnError) {
                try self.start(try self.bell.get())
            } catch {
                self.end(.idle, ActivatorError("\(error)"))
            }
        case .idle, .over: self.end(.over, .stopped)
        }
    }

    private func start(_ bell: Bell) throws(SpawnError) {
        do throws(ThreadError) {
            try DeliveryThread(name: "kii-activator") { [self] in ActivatorThread(mailbox: self, bell: bell).run() }
                .detach()
        } catch {
            throw SpawnError(program: "a thread", code: error.code)
        }
    }

    /// Refuses what waits.
    private func end(_ phase: Phase, _ error: ActivatorError) {
        let content = self.state.withLock { state in
            state.phase = phase
            defer { state.content = Content() }
            return state.content
        }
        for delivery in content.deliveries { delivery.completion.fail(error) }
        for notify in content.whenStopped { notify() }
    }

    // MARK: - Taking out, on the thread

    /// What was put in since the last time.
    func take() -> Content {
        self.state.withLock { state in
            defer {
                state.content.deliveries = []
                state.content.endings = []
            }
            return state.content
        }
    }

    /// The thread has nothing to do any more; what comes from now on is refused.
    func close() { self.end(.over, .stopped) }
}

/// Why an activator did not hand a message on.
struct ActivatorError: Error, Sendable, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static let stopped = ActivatorError("the activator was stopped")
}
