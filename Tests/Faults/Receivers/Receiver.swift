/// A client under test: a program that receives from a broker and logs the handled messages.
///
/// The program connects with the endpoint's client ID, user name and password, with clean session off, and subscribes
/// to the endpoint's topic at QoS 1. Each payload is JSON with a number `n`. For each message, the program appends
/// `began N ID` to the log, works for its ``WorkTime``, and appends `ended N ID`. It flushes each line to the disk
/// before the next step (fdatasync). N is `n`; ID is the program's own number of the message, or 0. After a lost
/// connection the program reconnects by itself.
package protocol Receiver: Sendable {
    /// The name in the table.
    var name: String { get }
    /// The file with a line for each message begun and ended, kept over restarts.
    var log: String { get }
    var process: ReceiverProcess { get }

    /// Kills the program and its children with SIGKILL, from any thread and without waiting for their end.
    func signalKill()

    /// Kills the program and its children, and waits for the program's end.
    func kill() async throws
}

extension Receiver {
    package func signalKill() { self.process.signalKill() }

    package func kill() async throws { await self.process.kill() }

    package func start() throws { try self.process.start() }

    package var isRunning: Bool { self.process.isRunning }
}

/// Duration of a receiver's work on a message, between the two lines of its log.
package struct WorkTime: Sendable, Hashable {
    /// Microseconds; each message draws a value, evenly distributed.
    package var range: ClosedRange<Int>

    package init(microseconds range: ClosedRange<Int>) { self.range = range }

    package static let standard = WorkTime(microseconds: 500...3000)

    package var environment: [String: String] {
        ["WORK_MIN_US": "\(self.range.lowerBound)", "WORK_MAX_US": "\(self.range.upperBound)"]
    }
}
