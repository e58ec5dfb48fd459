/// What a ``PushRuntime`` finds around it: clocks, limits and obstacles, which tests put in place of the machine's.
package struct RuntimeEnvironment: Sendable {
    /// Where the locks of installations are; `nil` for the user's runtime directory.
    package var lockDirectory: String?
    /// The most that the inbox file may grow to, in bytes: a full disk without a disk. Default: none.
    package var maximumInboxBytes: Int64?
    /// Whether each commit to the inbox file is flushed to the disk. A power cut loses messages if not.
    package var flushesCommits = true
    /// Asked before an agent's own file is written for why that fails: a full disk without a disk.
    package var stateObstacle: @Sendable () -> FileError? = { nil }
    /// What delivery and the inbox take their time from: deadlines of handlers and pauses between attempts. Whoever moves
    /// them calls ``PushRuntime/deliveryTimeChanged()``.
    package var clocks = Clocks.machine
    /// Reads the machine's clocks, which tell that it has slept.
    package var readClocks: @Sendable () -> ClockReading? = ClockReading.now
    /// How long a handler has for its answer.
    package var handlerDeadline = Duration.seconds(30)
    /// How often the inbox is looked through for what need not be kept; `nil`: as often as is good.
    package var sweepInterval: Duration?
    /// How long a connection to the cloud or the broker may take to be made, and as long again each of the broker's
    /// answers to CONNECT and SUBSCRIBE. A busy machine is no dead broker.
    package var connectTimeout = Duration.seconds(10)
    /// How long the broker's answer to a ping may take, where it is not what ``PushAgent/Configuration/keepAlive`` says.
    package var pingTimeout: Duration?
}
