public import KiiPushCore

/// Starts a program for messages: what on iOS the system does for an app that does not run.
///
/// It is the handler of an agent that holds the connection. A message starts the program, or goes to the one instance that
/// runs, which gets the messages of one source in the order of their reception. The program's own verdict counts; one that
/// crashes has failed this attempt, and is started again for the next one.
///
/// ```swift
/// let activator = Activator(configuration: .init(command: ["/usr/lib/mail/sync"]))
/// let agent = PushAgent(runtime: runtime, configuration: configuration, handler: activator)
/// try await agent.run()
/// await activator.stop()
/// ```
///
/// A program with this library gives its `PushAgent` the feed `.activator`. The agent then receives from the activator
/// and opens no connection, and `LaunchOptions.current` has the first message. A program without the library reads the
/// message, and answers by its exit status: 0 is `newData`, 10 `noData`, 65 (`EX_DATAERR`) refuses the message for
/// good, 75 (`EX_TEMPFAIL`) and anything else mean `failed`. The page "Receiving pushes" has the protocol of the
/// descriptor.
///
/// The 30 s of a message include its wait for the program. For a program that takes one message at a time (it reads
/// standard input, or does not say how many messages it takes) give the runtime one place for handlers
/// (`PushRuntime.Configuration.concurrentHandlers`).
///
/// The program's `PushAgent.badge` is that of the agent whose handler the activator is.
///
/// May be used from any thread.
public final class Activator: RemoteNotificationHandler, ThingCommandHandler, BadgeFollower {
    /// What is started, and how.
    public struct Configuration: Sendable {
        /// How a program gets its message.
        public enum Input: Sendable, Hashable {
            /// Over the socket that the variable `KII_PUSH_LAUNCH_FD` names, one JSON object a line.
            case descriptor
            /// The payload on standard input; one message for each process.
            case standardInput
        }

        /// The program, found along the PATH unless it has a slash, and its arguments. Without a program every message
        /// fails.
        public var command: [String]
        /// How the program gets its messages. Default: over the descriptor.
        public var input = Input.descriptor
        /// Whether the program's standard output goes to this process's standard error, for a process whose own output
        /// is data. Default: no.
        package var sendsOutputToStandardError = false
        /// Variables that the program gets besides those of this process.
        public var environment: [String: String] = [:]
        /// How long a program has to end after SIGTERM before SIGKILL follows, and, where it speaks the protocol, how
        /// long after a message's deadline it may still say so itself. Default 5 s.
        public var terminationGrace = Duration.seconds(5)
        /// A file that names the process that runs, so that after a crash of this program the next one ends it before it
        /// starts the program again. Give each activator one of its own. Default: none.
        package var processFile: String?
        /// Variables of this process that the program does not get. Default: none.
        package var withheldVariables: Set<String> = []

        /// The defaults for a program and its arguments.
        public init(command: [String]) { self.command = command }
    }

    /// What is going on, for a log.
    public enum Event: Sendable, Hashable, CustomStringConvertible {
        /// The program runs, with this process ID.
        case started(processID: Int32)
        /// It could not be started; the message's attempt failed.
        case startFailed(reason: String)
        /// It ended, `how` says by which exit status or signal.
        case ended(processID: Int32, how: String)
        /// It did not answer in time, or does not end, and is sent this signal.
        case terminated(processID: Int32, signal: Int32)
        /// It wrote something that is no answer. Told once for a process.
        case misspoke(processID: Int32, reason: String)
        /// A process that an earlier run of this program has left is ended.
        case leftoverEnded(processID: Int32)
        /// The file that names the running processes cannot be written.
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

    /// Makes an activator; nothing is started before the first message.
    ///
    /// - Parameters:
    ///   - configuration: what is started.
    ///   - lifecycle: follows the program: it has the state that the program reports, and is in the background while the
    ///     program does not run or reports none. Give it to the agent as well, with a presenter: the agent then presents
    ///     alerts unless the user has the program in front. Make it with `state: .background`. Default: none.
    ///   - report: told what is going on, one call at a time, on a thread of the activator's; it must not block.
    public init(
        configuration: Configuration, lifecycle: AgentLifecycle? = nil,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.lifecycle = lifecycle
        self.report = report
        // A program that reads standard input has no channel to wait for.
        self.thread = PollThread(name: "kii-activator", watchesDescriptors: configuration.input == .descriptor)
    }

    deinit { self.stop {} }

    /// Starts the program with the message, or sends it to the one that runs. The agent calls it.
    public func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.deliver(message.payloadBytes, context, completion)
    }

    /// Starts the program with the command, or sends it to the one that runs, as with a message. The agent calls it.
    public func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.deliver(command.rawPayload.serialized(), context, completion)
    }

    /// Has the program told of this number.
    package func follow(_ badge: any KeptBadge) {
        self.badge.withLock { $0.badge = badge }
        badge.onChange { [weak thread] in thread?.send(.badgeChanged) }
    }

    /// Ends the program: it sees that no more messages come, after ``Configuration/terminationGrace`` it gets SIGTERM, and
    /// after as long again SIGKILL. Messages from now on fail. Returns when it has ended.
    public func stop() async {
        let stopped = OneShot<Void>()
        self.stop { stopped.resume(()) }
        await stopped.value()
    }

    /// - Parameter whenStopped: called when nothing runs any more.
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
            // The machine gives no thread, or no descriptors.
            delivery.completion.postpone("\(error)")
        }
    }

    /// Starts the activator's thread before there is a message, so that what an earlier run has left running is ended.
    /// Where the machine gives no thread, the first message tries again.
    package func begin() { try? self.start() }

    private func start() throws(SystemError) {
        try self.thread.start { [configuration, lifecycle, report, badge, thread] in
            ActivatorLoop(configuration, lifecycle: lifecycle, badge: badge, report: report) { processID, ending in
                thread.send(.ended(processID: processID, ending))
            }
        }
    }
}
