import CKiiPush
import KiiPushActivation
import KiiPushCore

final class HostedAgent: Sendable {
    private struct State: Sendable {
        /// Whether the agent registers or runs; it does one at a time.
        var isBusy = false
        var task: Task<Void, Never>?
        var end: Result<Void, CFailure>?
        var isClosed = false

        mutating func begin() -> CFailure? {
            guard !self.isClosed else { return .handle("agent") }
            guard !self.isBusy else { return .state("the agent is running, or registering, already") }
            self.isBusy = true
            return nil
        }
    }

    let runtime: OpenRuntime
    let name: String
    let account: KiiAccount
    let agent: PushAgent
    private let callbacks: Callbacks
    private let state = Monitor(State())

    init(_ runtime: OpenRuntime, _ configuration: PushAgent.Configuration, _ callbacks: Callbacks) {
        self.runtime = runtime
        (self.name, self.account) = (configuration.name, configuration.account)
        self.callbacks = callbacks
        self.agent = PushAgent(
            runtime: runtime.runtime, configuration: configuration, handler: callbacks, feed: .activator)
    }

    func observe(_ observer: kii_push_observer, _ context: UnsafeMutableRawPointer?) {
        let isFirst = self.callbacks.add(observer, context)
        if isFirst { self.agent.observe { [callbacks] event in callbacks.tell(event) } }
    }

    func begin() throws(CFailure) {
        if let failure = self.state.withLock({ $0.begin() }) { throw failure }
    }

    func finish(_ end: Result<Void, CFailure>?) {
        self.state.withLock { state in
            (state.isBusy, state.task) = (false, nil)
            if let end { state.end = end }
        }
        self.state.signalAll()
    }

    func register() throws(CFailure) {
        try self.begin()
        defer { self.finish(nil) }
        try waiting("kii_push_register") { [agent] in _ = try await agent.register() }
    }

    func start() throws(CFailure) {
        let failure = self.state.withLock { state in
            let failure = state.begin()
            if failure == nil { state.task = Task { self.finish(await self.run()) } }
            return failure
        }
        if let failure { throw failure }
    }

    private func run() async -> Result<Void, CFailure> {
        do {
            return .success(try await self.agent.run())
        } catch {
            return .failure(CFailure(error))
        }
    }

    func stop() throws(CFailure) {
        let (task, hasRun) = self.state.withLock { ($0.task, $0.end != nil && !$0.isBusy) }
        guard task != nil || hasRun else { throw .state("the agent was not started") }
        task?.cancel()
    }

    /// - Parameter milliseconds: the longest wait; below zero without limit.
    func wait(_ milliseconds: Int64) throws(CFailure) {
        // At most a hundred years, so that the sum stays within the clock's range.
        let limit = Duration.milliseconds(min(milliseconds, 3_155_760_000_000))
        let deadline = milliseconds < 0 ? nil : MonotonicInstant.now() + limit
        let end: Result<Void, CFailure> = self.state.wait { state in
            guard state.task != nil else {
                return .leave(state.end ?? .failure(.state("the agent was not started")))
            }
            if let deadline, MonotonicInstant.now() >= deadline {
                var failure = CFailure(KII_PUSH_E_TIMEOUT, "the agent is still running")
                failure.isTemporary = true
                return .leave(.failure(failure))
            }
            return .sleep(until: deadline)
        }
        try end.get()
    }

    func close() {
        let task = self.state.withLock { state in
            state.isClosed = true
            return state.task
        }
        task?.cancel()
    }

    func end() async { await self.state.withLock { $0.task }?.value }
}
