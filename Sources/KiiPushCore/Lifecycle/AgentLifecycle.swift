/// Where the program stands between the user and the background, as the program itself tells.
///
/// The program calls the four functions when its windows come and go; agents that were made with this object route
/// messages by ``state`` (see ``PushAgent``). A program without a user needs none of it: without a lifecycle, or with one
/// that is never told anything, every message reaches the handler.
///
/// ```swift
/// let lifecycle = AgentLifecycle()
/// let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, lifecycle: lifecycle)
/// lifecycle.willResignActive()
/// lifecycle.didEnterBackground()
/// ```
///
/// May be used from any thread. Agents of one process share one.
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
            // Under the lock, so that every listener sees the changes in their order; a stream calls nobody.
            for listener in self.listeners.values { listener.yield(state) }
        }

        mutating func enterForeground() {
            guard self.state == .background || self.state == .notRunning else { return }
            self.tracker.willEnterForeground()
            self.enter(.inactive)
        }

        /// What is to be told now, and whom.
        mutating func takeOpening() -> (OpeningTracker.Opening, any OpenedNotificationHandler)? {
            guard self.state == .active, let opening = self.tracker.notification else { return nil }
            let target = self.targets.first { opening.target == nil || $0.number == opening.target }?.target
            // One that is of the launch waits for the agent that it is for.
            guard opening.target != nil || target != nil else { return nil }
            guard let opening = self.tracker.didBecomeActive(), let target else { return nil }
            return (opening, target)
        }
    }

    /// What the program was started for.
    public let launchOptions: LaunchOptions
    private let core: Locked<Core>

    /// Makes a lifecycle: one of the first things that a program does.
    ///
    /// - Parameters:
    ///   - launchOptions: what the program was started for. Default: nothing that this library knows of.
    ///   - state: where the program is. Default: `inactive` if the user started it by a notification, and the program calls
    ///     ``didBecomeActive()`` when it is ready; `background` if a push started it with no user about; else `active`.
    public init(launchOptions: LaunchOptions = LaunchOptions(), state: LifecycleState? = nil) {
        self.launchOptions = launchOptions
        let launched: LifecycleState = launchOptions.userAction?.opensProgram == true ? .inactive : .background
        var core = Core(state: state ?? (launchOptions.remoteNotification == nil ? .active : launched))
        core.tracker.didFinishLaunching(launchOptions)
        self.core = Locked(core)
    }

    deinit { for listener in self.core.withLock({ Array($0.listeners.values) }) { listener.finish() } }

    // MARK: - What the program tells

    /// The program comes to the foreground from the background. Elsewhere it changes nothing.
    public func willEnterForeground() { self.core.withLock { $0.enterForeground() } }

    /// The program is in use. If that is because the user opened a notification, the agent's handler is told, as an
    /// ``OpenedNotificationHandler``, before this returns.
    public func didBecomeActive() { self.update { $0.enter(.active) } }

    /// The program is about to lose the user's attention: it is on its way to the background, or something covers it. In
    /// the background it changes nothing.
    public func willResignActive() { self.core.withLock { core in if core.state == .active { core.enter(.inactive) } } }

    /// The program is out of the user's sight.
    public func didEnterBackground() { self.core.withLock { $0.enter(.background) } }

    /// Says how the program is brought to the foreground when the user opens a notification while it is in the background.
    ///
    /// On iOS the system does that. Here the agent enters the foreground for the program (as by ``willEnterForeground()``,
    /// which the program may then call or leave out), calls `body`, and hands the message over in state `inactive`; the
    /// program shows its window and calls ``didBecomeActive()``. Without such a `body` the program stays in the background:
    /// the handler is called, and nothing counts as opened from a notification.
    ///
    /// - Parameter body: shows the program's window, or has that done; called on the thread of the presenter, or, with
    ///   a ``MessageFeed``, on a thread of the agent's. Replaces an earlier `body`.
    public func onForegroundRequest(_ body: @escaping @Sendable (ReceivedMessage) -> Void) {
        self.core.withLock { $0.foregroundRequest = body }
    }

    // MARK: - What others see

    /// Where the program is now.
    public var state: LifecycleState { self.core.withLock { $0.state } }

    /// Where the program is, first now and then after each change. Each call makes a stream of its own, which keeps the
    /// newest 64 for a listener that is slow. It ends with this object.
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

    /// Has somebody told of what the user opens, until ``remove(_:)``.
    ///
    /// - Returns: their number.
    package func add(_ target: any OpenedNotificationHandler) -> Int {
        // The program may have become active before it had an agent.
        self.update { core in
            core.lastNumber += 1
            core.targets.append((core.lastNumber, target))
            return core.lastNumber
        }
    }

    package func remove(_ number: Int) { self.core.withLock { core in core.targets.removeAll { $0.number == number } } }

    /// A handler is about to be called with what the user opened.
    package func received(_ opening: OpeningTracker.Opening, isUserOpened: Bool) {
        // If the program is active already, nothing else will use it up.
        self.update { core in
            // One that is opened is on its way to the foreground, unless nobody has brought it there.
            let state: LifecycleState = isUserOpened && core.state != .background ? .inactive : core.state
            core.tracker.received(opening, state: state, isUserOpened: isUserOpened)
        }
    }

    /// The user opened a notification: the program is asked to come to the foreground.
    package func userOpens(_ message: ReceivedMessage) {
        let request = self.core.withLock { core -> (@Sendable (ReceivedMessage) -> Void)? in
            guard core.state == .background, let request = core.foregroundRequest else { return nil }
            core.enterForeground()
            return request
        }
        request?(message)
    }

    /// Takes over the state that another process reports of itself.
    package func follow(_ state: LifecycleState) {
        switch state {
        case .active: self.didBecomeActive()
        case .inactive:
            self.willEnterForeground()
            self.willResignActive()
        case .background, .notRunning: self.didEnterBackground()
        }
    }

    /// Changes the core, and tells after that what has been opened.
    private func update<Result: Sendable>(_ change: (inout Core) -> Result) -> Result {
        let (result, opened) = self.core.withLock { core in (change(&core), core.takeOpening()) }
        if let (opening, target) = opened { target.openedFromNotification(opening.message) }
        return result
    }
}
