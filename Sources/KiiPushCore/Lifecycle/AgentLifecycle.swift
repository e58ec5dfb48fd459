/// Holds the state of a program with a user interface: active, inactive, or in the background.
///
/// The program calls the four functions below when its windows come and go. Its agents route messages by ``state`` (see
/// ``PushAgent``). A program without a user interface needs no lifecycle: the handler then gets each push.
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
            // `yield` runs no code of a listener, so calling it under the lock is safe.
            for listener in self.listeners.values { listener.yield(state) }
        }

        mutating func enterForeground() {
            guard self.state == .background || self.state == .notRunning else { return }
            self.tracker.willEnterForeground()
            self.enter(.inactive)
        }

        mutating func takeOpening() -> (OpeningTracker.Opening, any OpenedNotificationHandler)? {
            guard self.state == .active, let opening = self.tracker.notification else { return nil }
            let target = self.targets.first { opening.target == nil || $0.number == opening.target }?.target
            guard opening.target != nil || target != nil else { return nil }
            guard let opening = self.tracker.didBecomeActive(), let target else { return nil }
            return (opening, target)
        }
    }

    /// The reason why the program was started.
    package let launchOptions: LaunchOptions
    private let core: Locked<Core>

    /// Makes a lifecycle. A program makes it before its agents.
    ///
    /// - Parameters:
    ///   - launchOptions: the reason why the program was started.
    ///   - state: the program's state. Default: `inactive` if the user started the program by a notification,
    ///     `background` if a push started it without a user, else `active`. A program in `inactive` calls
    ///     ``didBecomeActive()`` when it is ready.
    public init(launchOptions: LaunchOptions = LaunchOptions(), state: LifecycleState? = nil) {
        self.launchOptions = launchOptions
        let launched: LifecycleState = launchOptions.userAction?.opensProgram == true ? .inactive : .background
        var core = Core(state: state ?? (launchOptions.remoteNotification == nil ? .active : launched))
        core.tracker.didFinishLaunching(launchOptions)
        self.core = Locked(core)
    }

    deinit { for listener in self.core.withLock({ Array($0.listeners.values) }) { listener.finish() } }

    // MARK: - Calls by the program

    /// Reports that the program comes to the foreground: ``state`` becomes `inactive`, if it was not `active`.
    public func willEnterForeground() { self.core.withLock { $0.enterForeground() } }

    /// Reports that the program is in use: ``state`` becomes `active`. If the user opened a notification, this function
    /// calls the agent's ``OpenedNotificationHandler`` before it returns.
    public func didBecomeActive() { self.update { $0.enter(.active) } }

    /// Reports that the program is about to lose the user's attention: `active` becomes `inactive`. Does nothing in
    /// other states.
    public func willResignActive() { self.core.withLock { core in if core.state == .active { core.enter(.inactive) } } }

    /// Reports that the user does not see the program: ``state`` becomes `background`.
    public func didEnterBackground() { self.core.withLock { $0.enter(.background) } }

    /// Sets the function that shows the program when the user opens a notification in the background.
    ///
    /// The agent first changes ``state`` as ``willEnterForeground()`` does, then calls `body`, and then delivers the
    /// message in state `inactive`. The program shows its window and calls ``didBecomeActive()``. Without a `body` the
    /// program stays in the background: the agent calls the handler, but no ``OpenedNotificationHandler``.
    ///
    /// - Parameter body: shows the program's window. Runs on the presenter's thread or, with a ``MessageFeed``, on a
    ///   thread of the agent. Replaces an earlier `body`.
    public func onForegroundRequest(_ body: @escaping @Sendable (ReceivedMessage) -> Void) {
        self.core.withLock { $0.foregroundRequest = body }
    }

    // MARK: - State for observers

    /// The current state.
    public var state: LifecycleState { self.core.withLock { $0.state } }

    /// A new stream of the current state and each later change. It buffers the newest 64 states, and ends when this
    /// object is released.
    package var states: AsyncStream<LifecycleState> {
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

    package func add(_ target: any OpenedNotificationHandler) -> Int {
        // The program may have become active before it had an agent.
        self.update { core in
            core.lastNumber += 1
            core.targets.append((core.lastNumber, target))
            return core.lastNumber
        }
    }

    package func remove(_ number: Int) { self.core.withLock { core in core.targets.removeAll { $0.number == number } } }

    package func received(_ opening: OpeningTracker.Opening, isUserOpened: Bool) {
        self.update { core in
            // A message that the user opened counts as received in state `inactive`, even if the program is active by
            // now. The exception is a program that stayed in the background.
            let state: LifecycleState = isUserOpened && core.state != .background ? .inactive : core.state
            core.tracker.received(opening, state: state, isUserOpened: isUserOpened)
        }
    }

    package func userDidOpen(_ message: ReceivedMessage) {
        let request = self.core.withLock { core -> (@Sendable (ReceivedMessage) -> Void)? in
            guard core.state == .background, let request = core.foregroundRequest else { return nil }
            core.enterForeground()
            return request
        }
        request?(message)
    }

    package func follow(_ state: LifecycleState) {
        switch state {
        case .active: self.didBecomeActive()
        case .inactive:
            self.willEnterForeground()
            self.willResignActive()
        case .background, .notRunning: self.didEnterBackground()
        }
    }

    /// If the user opened a notification, calls the ``OpenedNotificationHandler`` after the change, without the lock.
    private func update<Result: Sendable>(_ change: (inout Core) -> Result) -> Result {
        let (result, opened) = self.core.withLock { core in (change(&core), core.takeOpening()) }
        if let (opening, target) = opened { target.openedFromNotification(opening.message) }
        return result
    }
}
