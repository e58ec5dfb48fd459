import Glibc

/// The clocks and limits of a ``PushRuntime``, which tests can replace.
package struct RuntimeEnvironment: Sendable {
    /// The directory in which all processes of a user find the installations' locks.
    package var lockDirectory = "/tmp"
    /// The directory in which agents announce themselves to a cloud on this machine; `nil` for the standard one.
    package var runtimeDirectory: String?
    package var maximumInboxBytes: Int64?
    /// If `false`, a power cut may lose messages.
    package var flushesCommits = true
    package var stateObstacle: @Sendable () -> FileError? = { nil }
    /// The clocks of handlers' deadlines and retries. A test that moves them calls
    /// ``PushRuntime/deliveryTimeChanged()``.
    package var clocks = Clocks.machine
    package var readClocks: @Sendable () -> ClockReading? = ClockReading.now
    package var isActivated: @Sendable () -> Bool = {
        getenv(MessageFeed.launchVariable) != nil || MessageFeed.isUnclaimed.withLock { $0 }
    }
    package var handlerDeadline = Duration.seconds(30)
    package var sweepInterval: Duration?
    /// The limit for connecting, again for CONNACK, and again for SUBACK. Generous, so that a slow machine does not
    /// look like a dead broker.
    package var connectTimeout = Duration.seconds(10)
    /// The limit for PINGRESP; `nil`: see ``PushAgent/Configuration/keepAlive``.
    package var pingTimeout: Duration?
}
