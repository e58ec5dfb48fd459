/// A client under test: a program of its own that receives from a broker and keeps a log of what it handled.
///
/// The program connects with the endpoint's client ID, user name and password, clean session off, and subscribes to the
/// endpoint's topic at QoS 1. For each message, whose payload is JSON with a number `n`, it appends `began N ID` to the
/// log, works for as long as ``WorkTime`` says, and appends `ended N ID`; each line is written through to the disk
/// before the next step (fdatasync). N is `n`, ID the program's own number of the message, or 0. When the connection is
/// lost it connects again by itself.
package protocol Receiver: Sendable {
    /// What the table calls it.
    var name: String { get }
    /// The file with a line for each message begun and ended, kept over restarts.
    var log: String { get }
    /// The program.
    var process: ReceiverProcess { get }

    /// Ends the program and all that it started with SIGKILL, from any thread and without waiting for its end.
    func signalKill()

    /// The same, and returns when it is gone.
    func kill() async throws
}

extension Receiver {
    package func signalKill() { self.process.signalKill() }

    package func kill() async throws { await self.process.kill() }

    /// Starts the program, again after it was killed.
    package func start() throws { try self.process.start() }

    /// Whether the program has not ended.
    package var isRunning: Bool { self.process.isRunning }
}

/// How long a receiver works on a message, between the two lines of its log.
package struct WorkTime: Sendable, Hashable {
    /// Microseconds; drawn evenly for each message.
    package var range: ClosedRange<Int>

    package init(microseconds range: ClosedRange<Int>) { self.range = range }

    package static let standard = WorkTime(microseconds: 500...3000)

    /// The variables that tell a receiver.
    package var environment: [String: String] {
        ["WORK_MIN_US": "\(self.range.lowerBound)", "WORK_MAX_US": "\(self.range.upperBound)"]
    }
}
