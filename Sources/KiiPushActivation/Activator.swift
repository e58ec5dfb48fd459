public import KiiPushCore

/// Starts a program for messages, as iOS does for an app that is not running.
///
/// The activator is the handler of an agent that holds the connection. A message starts the program, or goes to the
/// running instance. Messages come in the order that `RemoteNotificationHandler` describes. The program's verdict is
/// the handler's answer. If the program crashes, the attempt fails, and the next attempt starts the program again.
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
/// the message and answers by its exit status: 0 means `newData`, 10 `noData`, 65 (`EX_DATAERR`) refuses the message
/// for good, 75 (`EX_TEMPFAIL`) and all others mean `failed`. The page "Receiving pushes" describes the protocol of the
/// socket.
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
        /// The way in which a program gets its messages.
        public enum Input: Sendable, Hashable {
            /// As lines of JSON over a socket. The variable `KII_PUSH_LAUNCH_FD` holds the socket's descriptor.
            case descriptor
            /// The payload on standard input. Each process gets one message.
            case standardInput
        }

        /// The program and its arguments. A program without a slash is searched along the PATH. With an empty command
        /// every message fails.
        public var command: [String]
        /// The way in which the program gets its messages. Default: `descriptor`.
        public var input = Input.descriptor
        /// Whether the program's standard output goes to this process's standard error. Default: no.
        package var sendsOutputToStandardError = false
        /// Additional environment variables for the program. Default: none.
        public var environment: [String: String] = [:]
        /// The time from SIGTERM to SIGKILL. A program that sent `ready` over the socket also has this time after a
        /// message's deadline to report the message as late. Default: 5 s.
        public var terminationGrace = Duration.seconds(5)
        /// A file that names the started process. If the activator's process crashes, the next activator with this file
        /// ends the named process before it starts another. Activators that run at the same time need different files.
        /// Default: none.
        package var processFile: String?
        package var withheldVariables: Set<String> = []

        /// Creates a configuration with defaults.
        public init(command: [String]) { self.command = command }
    }

    /// An event of the activator, for a log.
    public enum Event: Sendable, Hashable, CustomStringConvertible {
        /// The program was started with this process ID.
        case started(processID: Int32)
        /// The program could not be started. The attempt failed.
        case startFailed(reason: String)
        /// The process ended. `how` is its exit status or signal.
        case ended(processID: Int32, how: String)
        /// The process did not answer or end in time. The activator sends it this signal.
        case terminated(processID: Int32, signal: Int32)
        /// The process wrote an unreadable line. Reported once for each process.
        case invalidAnswer(processID: Int32, reason: String)
        /// After a crash of an earlier activator, this one found its process running, and sent it signals to end it.
        case leftoverEnded(processID: Int32)
        /// The activator cannot write the file that names the running process.
        case processFileFailed(reason: String)

        /// One line for the user.
        public var description: String {
            switch self {
            case .started(let id): "started as process \(id)"
            case .startFailed(let reason): reason
            case .ended(let id, let how): "process \(id) ended with \(how)"
            case .terminated(let id, let signal):
                "process \(id) did not answer or end in time; it gets \(signal == 9 ? "SIGKILL" : "SIGTERM")"
            case .invalidAnswer(let id, let reason): "process \(id) wrote what is no answer: \(reason)"
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

    /// Creates an activator. It starts no program before the first message.
    ///
    /// - Parameters:
    ///   - configuration: the program and how to start it.
    ///   - lifecycle: follows the state that the program reports. The state is `background` while the program does not
    ///     run or reports no state. Create the lifecycle with `state: .background`, and pass it to the agent too. An
    ///     agent with a presenter then presents alerts unless the program is in the foreground. Default: none.
    ///   - report: called with each event, one call at a time, on the activator's thread. It must not block.
    public init(
        configuration: Configuration, lifecycle: AgentLifecycle? = nil,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.lifecycle = lifecycle
        self.report = report
        // Programs that read standard input have no socket to watch.
        self.thread = PollThread(name: "kii-activator", watchesDescriptors: configuration.input == .descriptor)
    }

    deinit { self.stop {} }

    /// Starts the program with the message, or sends the message to the running instance. The agent calls this method.
    public func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.deliver(message.payloadBytes, context, completion)
    }

    /// Starts the program with the command, or sends the command to the running instance. The agent calls this method.
    public func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.deliver(command.rawPayload.serialized(), context, completion)
    }

    package func follow(_ badge: AgentBadge) {
        self.badge.withLock { $0.badge = badge }
        badge.onChange { [weak thread] in thread?.send(.badgeChanged) }
    }

    /// Ends the program. The activator closes the socket for writing. A program that still runs gets SIGTERM after
    /// ``Configuration/terminationGrace``, and SIGKILL after the same time again. Waiting and new messages fail.
    /// Returns when the program has ended.
    public func stop() async {
        let stopped = OneShot<Void>()
        self.stop { stopped.resume(()) }
        await stopped.value()
        // The thread ends right after the call above, so this wait is short.
        self.thread.join()
    }

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
            // The machine has no threads or descriptors left, so the attempt does not count.
            delivery.completion.postpone("\(error)")
        }
    }

    /// Starts the activator's thread early, to end a process that was left running after a crash. If no thread can be
    /// created, the first message tries again.
    package func begin() { try? self.start() }

    private func start() throws(SystemError) {
        try self.thread.start { [configuration, lifecycle, report, badge, thread] in
            ActivatorLoop(configuration, lifecycle: lifecycle, badge: badge, report: report) { processID, ending in
                thread.send(.ended(processID: processID, ending))
            }
        }
    }
}
