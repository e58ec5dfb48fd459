import Glibc

/// The surroundings of a ``PushRuntime``: clocks, limits and obstacles, which tests put in place of the machine's.
package struct RuntimeEnvironment: Sendable {
    /// The directory above the locks of installations; `nil` for a directory in `/tmp`.
    package var lockDirectory: String?
    /// The folder in which agents announce themselves to a cloud on this machine; `nil` for
    /// ``RuntimeDirectory/standard(environment:)``.
    package var runtimeDirectory: String?
    /// The largest size of the inbox file in bytes, to simulate a full disk. Default: no limit.
    package var maximumInboxBytes: Int64?
    /// Whether each commit to the inbox file is flushed to the disk. A power cut loses messages if not.
    package var flushesCommits = true
    /// Returns an error to make writing an agent's own file fail, as on a full disk; `nil`: the file is written.
    package var stateObstacle: @Sendable () -> FileError? = { nil }
    /// The clocks of delivery and the inbox, for deadlines of handlers and pauses between attempts. A test that moves
    /// them calls ``PushRuntime/deliveryTimeChanged()``.
    package var clocks = Clocks.machine
    /// Reads the machine's clocks, which show that it has slept.
    package var readClocks: @Sendable () -> ClockReading? = ClockReading.now
    /// Whether another program has started this process for a push and no agent has asked for its feed.
    package var isActivated: @Sendable () -> Bool = {
        getenv(MessageFeed.launchVariable) != nil || MessageFeed.isUnclaimed.withLock { $0 }
    }
    package var handlerDeadline = Duration.seconds(30)
    /// The time between two prunings of the inbox; `nil`: the runtime chooses.
    package var sweepInterval: Duration?
    /// The time limit for connecting to the cloud or the broker. The broker's answers to CONNECT and to SUBSCRIBE each
    /// have the same limit. It is generous, so that a slow machine does not look like a dead broker.
    package var connectTimeout = Duration.seconds(10)
    /// The time limit for the broker's answer to a ping; `nil`: ``PushAgent/Configuration/keepAlive`` decides.
    package var pingTimeout: Duration?
}
