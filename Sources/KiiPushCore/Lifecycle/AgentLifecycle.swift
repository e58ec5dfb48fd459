/// The program's state between user and background, as the program reports it.
///
/// The program calls the four functions when its windows come and go. Agents made with this object route messages by
/// ``state`` (see ``PushAgent``). A program without a user interface does not need a lifecycle: without one, or if the
/// program reports nothing, every message reaches the handler.
///
/// ```swift
/// let lifecycle = AgentLifecycle()
/// let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle)
/// lifecycle.willResignActive()
/// lifecycle.didEnterBackground()
/// ```
///
/// Thread-safe. The agents of a process share one lifecycle.
///
/// - Source: the functions of `UIApplicationDelegate` with the same names.
public final class AgentLifecycle: Sendable {
    private struct Core {
        var state: LifecycleState
        var tracker = OpeningTracker()
        var targets: [(number: Int, target: any OpenedNotificationHandler)] = []
        var lastNumber = 0
        var foregroundRequest: (@Sendable (ReceivedMessage) -> Void)?
        var listeners: [Int: AsyncStream<LifecycleState>.Continuation] = [:]

        mutating func enter(_ state: LifecycleState) {
            guard state != self.state else { return }
            self.state = state
            // The lock keeps the changes in order for every listener; a stream calls nobody.
            for listener in self.listeners.values { listener.yield(state) }
        }

        mutating func enterForeground() {
            guard self.state == .background || self.state == .notRunning else { return }
            self.tracker.willEnterForeground()
            self.enter(.inactive)
        }

        /// The next opening to report and the handler that gets it.
        mutating func takeOpening() -> (OpeningTracker.Opening, any OpenedNotificationHandler)? {
            guard self.state == .active, let opening = self.tracker.notification else { return nil }
            let target = self.targets.first { opening.target == nil || $0.number == opening.target }?.target
            // An opening from the launch waits for the agent that it belongs to.
            guard opening.target != nil || target != nil else { return nil }
            guard let opening = self.tracker.didBecomeActive(), let target else { return nil }
            return (opening, target)
        }
    }

    /// The reason why the program was started.
    public let launchOptions: LaunchOptions
    private let core: Locked<Core>

    /// Makes a lifecycle. A program does this first.
    ///
    /// - Parameters:
    ///   - launchOptions: the reason why the program was started. Default: none that this library knows.
    ///   - state: the program's state. The default is `inactive` if the user started the program by a notification; the
    ///     program calls ``didBecomeActive()`` when it is ready. It is `background` if a push started the program
    ///     without a user, else `active`.
    public init(launchOptions: LaunchOptions = LaunchOptions(), state: LifecycleState? = nil) {
        self.launchOptions = launchOptions
        let launched: LifecycleState = launchOptions.userAction?.opensProgram == true ? .inactive : .background
        var core = Core(state: state ?? (launchOptions.remoteNotification == nil ? .active : launched))
        core.tracker.didFinishLaunching(launchOptions)
        self.core = Locked(core)
    }

    deinit { for listener in self.core.withLock({ Array($0.listeners.values) }) { listener.finish() } }

    // MARK: - Calls by the program

    /// The program comes to the foreground from the background. In any other state this does nothing.
    public func willEnterForeground() { self.core.withLock { $0.enterForeground() } }

    /// The program is in use. If it is so because the user opened a notification, this calls the agent's
    /// ``OpenedNotificationHandler`` before it returns.
    public func didBecomeActive() { self.update { $0.enter(.active) } }

    /// The program is about to lose the user's attention: it is on its way to the background, or something covers it.
    /// In the background this does nothing.
    public func willResignActive() { self.core.withLock { core in if core.state == .active { core.enter(.inactive) } } }

    /// The program is out of the user's sight.
    public func didEnterBackground() { self.core.withLock { $0.enter(.background) } }

    /// Sets how the program comes to the foreground when the user opens a notification in the background.
    ///
    /// On iOS the system does that. Here the agent enters the foreground for the program, as ``willEnterForeground()``
    /// does; the program need not call that function then. The agent then calls `body`, and delivers the message in
    /// state `inactive`. The program shows its window and calls ``didBecomeActive()``. Without a `body` the program
    /// stays in the background: the agent calls the handler, and reports no opening.
    ///
    /// - Parameter body: shows the program's window, or has it shown. Runs on the presenter's thread or, with a
    ///   ``MessageFeed``, on a thread of the agent. Replaces an earlier `body`.
    public func onForegroundRequest(_ body: @escaping @Sendable (ReceivedMessage) -> Void) {
        self.core.withLock { $0.foregroundRequest = body }
    }

    // MARK: - State for observers

    /// The current state.
    public var state: LifecycleState { self.core.withLock { $0.state } }

    /// The current state, then each change. Each call makes a new stream, which buffers the newest 64 states for a slow
    /// listener. The stream ends with this object.
    public var states: AsyncStream<LifecycleState> {
        let (stream, continuation) = AsyncStream<LifecycleState>.makeStream(bufferingPolicy: .bufferingNewest(64))
        let number = self.core.withLock { core in
            core.lastNumber += 1
            core.listeners[core.lastNumber] = continuation
            continuation.yield(core.state)
            return core.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.core.withLock { core in _ = core.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    // MARK: - For agents

    /// Reports openings to `target` until ``remove(_:)``.
    ///
    /// - Returns: the target's number.
    package func add(_ target: any OpenedNotificationHandler) -> Int {
        // The program may have become active before it had an agent.
        self.update { core in
            core.lastNumber += 1
            core.targets.append((core.lastNumber, target))
            return core.lastNumber
        }
    }

    package func remove(_ number: Int) { self.core.withLock { core in core.targets.removeAll { $0.number == number } } }

    /// Records that the agent is about to call a handler with the message that the user opened.
    package func received(_ opening: OpeningTracker.Opening, isUserOpened: Bool) {
        // If the program is active already, no later call would use up the opening.
        self.update { core in
            // A message that the user opened counts as received in state `inactive`, even if the program is active. In
            // the background it does not: there the opening did not bring the program to the foreground.
            let state: LifecycleState = isUserOpened && core.state != .background ? .inactive : core.state
            core.tracker.received(opening, state: state, isUserOpened: isUserOpened)
        }
    }

    /// Asks the program to come to the foreground, because the user opened a notification.
    package func userOpens(_ message: ReceivedMessage) {
        let request = self.core.withLock { core -> (@Sendable (ReceivedMessage) -> Void)? in
            guard core.state == .background, let request = core.foregroundRequest else { return nil }
            core.enterForeground()
            return request
        }
        request?(message)
    }

    /// Takes over the state that another process reports about itself.
    package func follow(_ state: LifecycleState) {
        switch state {
        case .active: self.didBecomeActive()
        case .inactive:
            self.willEnterForeground()
            self.willResignActive()
        case .background, .notRunning: self.didEnterBackground()
        }
    }

    /// Changes the core, and then reports an opening to its target.
    private func update<Result: Sendable>(_ change: (inout Core) -> Result) -> Result {
        let (result, opened) = self.core.withLock { core in (change(&core), core.takeOpening()) }
        if let (opening, target) = opened { target.openedFromNotification(opening.message) }
        return result
    }
}
