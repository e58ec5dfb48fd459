public import KiiPushCore

/// Starts a program for messages, as iOS does for an app that is not running.
///
/// It is the handler of an agent that holds the connection. A message starts the program, or goes to the running
/// instance, which gets the messages of one source in order of reception. The program's verdict is the handler's
/// answer. A crash fails the attempt, and the next attempt starts the program again.
///
/// ```swift
/// let activator = Activator(configuration: .init(command: ["/usr/lib/mail/sync"]))
/// let agent = PushAgent(runtime: runtime, configuration: configuration, handler: activator)
/// try await agent.run()
/// await activator.stop()
/// ```
///
/// A program with this library gives its `PushAgent` the feed `.activator`. The agent then receives from the activator
/// and opens no connection, and `LaunchOptions.current` holds the first message. A program without the library reads
/// the message and answers by its exit status: 0 is `newData`, 10 `noData`, 65 (`EX_DATAERR`) refuses the message for
/// good, 75 (`EX_TEMPFAIL`) and anything else mean `failed`. The page "Receiving pushes" describes the protocol of the
/// descriptor.
///
/// The 30 s of a message include its wait for the program. Some programs take one message at a time: they read standard
/// input, or do not say how many messages they take. For these, set `PushRuntime.Configuration.concurrentHandlers` to
/// 1.
///
/// The program's `PushAgent.badge` is the badge of the agent that has this activator as its handler.
///
/// Safe to use from any thread.
public final class Activator: RemoteNotificationHandler, ThingCommandHandler, BadgeFollower {
    /// The program and how to start it.
    public struct Configuration: Sendable {
        /// The way in which a program gets its message.
        public enum Input: Sendable, Hashable {
            /// Over the socket that the variable `KII_PUSH_LAUNCH_FD` names, as one line of JSON for each message.
            case descriptor
            /// The payload on standard input; each process gets one message.
            case standardInput
        }

        /// The program and its arguments. A program without a slash is searched along the PATH. An empty command fails
        /// every message.
        public var command: [String]
        /// The way of messages to the program. Default: over the descriptor.
        public var input = Input.descriptor
        /// Whether the program's standard output goes to this process's standard error, for a process whose own output
        /// is data. Default: no.
        package var sendsOutputToStandardError = false
        /// Variables that the program gets in addition to this process's. Default: none.
        public var environment: [String: String] = [:]
        /// The time from SIGTERM to SIGKILL. Also the time after a message's deadline in which a program that speaks
        /// the protocol may report the message as late. Default 5 s.
        public var terminationGrace = Duration.seconds(5)
        /// A file that names the running process. After a crash of this program, the next run ends that process before
        /// it starts the program again. Each activator needs its own file. Default: none.
        package var processFile: String?
        /// Variables of this process that the program does not get. Default: none.
        package var withheldVariables: Set<String> = []

        /// Creates a configuration with defaults.
        public init(command: [String]) { self.command = command }
    }

    /// An event of the activator, for a log.
    public enum Event: Sendable, Hashable, CustomStringConvertible {
        /// The program runs, with this process ID.
        case started(processID: Int32)
        /// The program could not be started; the message's attempt failed.
        case startFailed(reason: String)
        /// The process ended; `how` is its exit status or signal.
        case ended(processID: Int32, how: String)
        /// The process did not answer in time or does not end, so the activator sends it this signal.
        case terminated(processID: Int32, signal: Int32)
        /// The process wrote a line that is no answer. Reported once for each process.
        case misspoke(processID: Int32, reason: String)
        /// The activator ended a process that an earlier run of this program left behind.
        case leftoverEnded(processID: Int32)
        /// The file that names the running process cannot be written.
        case processFileFailed(reason: String)

        /// One line for a person.
        public var description: String {
            switch self {
            case .started(let id): "started as process \(id)"
            case .startFailed(let reason): reason
            case .ended(let id, let how): "process \(id) ended with \(how)"
            case .terminated(let id, let signal):
                "process \(id) did not answer or end in time; it gets \(signal == 9 ? "SIGKILL" : "SIGTERM")"
            case .misspoke(let id, let reason): "process \(id) wrote what is no answer: \(reason)"
            case .leftoverEnded(let id): "process \(id), which an earlier run has left, is ended"
            case .processFileFailed(let reason): reason
            }
        }
    }

    private let configuration: Configuration
    private let lifecycle: AgentLifecycle?
    private let report: @Sendable (Event) -> Void
    private let badge = Locked(ActivatorLoop.AgentsBadge())
    private let thread: PollThread<ActivatorLoop.Message>

    /// Creates an activator. It starts nothing before the first message.
    ///
    /// - Parameters:
    ///   - configuration: the program and how to start it.
    ///   - lifecycle: follows the program's reported state; it is in the background while the program does not run or
    ///     reports none. Give it to the agent too, with a presenter: the agent then presents alerts unless the program
    ///     is in front. Make it with `state: .background`. Default: none.
    ///   - report: called with each event, one call at a time, on the activator's thread; it must not block.
    public init(
        configuration: Configuration, lifecycle: AgentLifecycle? = nil,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.lifecycle = lifecycle
        self.report = report
        // A program that reads standard input has no channel to watch.
        self.thread = PollThread(name: "kii-activator", watchesDescriptors: configuration.input == .descriptor)
    }

    deinit { self.stop {} }

    /// Starts the program with the message, or sends the message to the running instance. The agent calls it.
    public func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.deliver(message.payloadBytes, context, completion)
    }

    /// Starts the program with the command, or sends the command to the running instance. The agent calls it.
    public func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.deliver(command.rawPayload.serialized(), context, completion)
    }

    /// Keeps the program informed of this badge number.
    package func follow(_ badge: any KeptBadge) {
        self.badge.withLock { $0.badge = badge }
        badge.onChange { [weak thread] in thread?.send(.badgeChanged) }
    }

    /// Ends the program: the activator closes its input, sends SIGTERM after ``Configuration/terminationGrace``, and
    /// SIGKILL after the same time again. New messages fail. Returns when the program has ended.
    public func stop() async {
        let stopped = OneShot<Void>()
        self.stop { stopped.resume(()) }
        await stopped.value()
    }

    /// - Parameter whenStopped: called when no process runs any more.
    private func stop(whenStopped: @escaping @Sendable () -> Void) {
        guard !self.thread.cancel(), self.thread.send(.stop(whenStopped: whenStopped)) else { return whenStopped() }
    }

    private func deliver(_ payload: [UInt8], _ context: DeliveryContext, _ completion: FetchCompletion) {
        let deadline = context.deadlineInstant
        self.deliver(.init(payload: payload, context: context, completion: completion, deadline: deadline))
    }

    func deliver(_ delivery: ActivatorLoop.Delivery) {
        do throws(SystemError) {
            try self.start()
            if !self.thread.send(.deliver(delivery)) { delivery.completion.fail(because: ActivationQueue.stopped) }
        } catch {
            // The machine has no thread or no descriptors left.
            delivery.completion.postpone("\(error)")
        }
    }

    /// Starts the activator's thread before the first message, to end a process that an earlier run left behind. If the
    /// machine gives no thread, the first message tries again.
    package func begin() { try? self.start() }

    private func start() throws(SystemError) {
        try self.thread.start { [configuration, lifecycle, report, badge, thread] in
            ActivatorLoop(configuration, lifecycle: lifecycle, badge: badge, report: report) { processID, ending in
                thread.send(.ended(processID: processID, ending))
            }
        }
    }
}
