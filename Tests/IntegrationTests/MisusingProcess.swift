import Foundation
import Glibc
import TestSupport

/// The `MisusingAgent` program as a child process.
final class MisusingProcess {
    private let state: String
    private var process: Process?

    init(state: String) { self.state = state }

    var processID: Int? { self.process.map { Int($0.processIdentifier) } }

    func start(isFirst: Bool) throws {
        let process = Process()
        process.executableURL = productsDirectory.appendingPathComponent("MisusingAgent")
        process.arguments = [self.state, isFirst ? "first" : "later"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT_BACKTRACE": "enable=no"], uniquingKeysWith: { $1 })
        try process.run()
        self.process = process
    }

    /// Waits until it has ended by itself.
    ///
    /// - Returns: the signal that ended it.
    func waitForEnd() async -> Int32? {
        guard let process else { return nil }
        return await withCheckedContinuation { continuation in
            // On a thread of its own, which may block.
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume(
                    returning: process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil)
            }
        }
    }

    func stop() async {
        if let process { kill(process.processIdentifier, SIGKILL) }
        _ = await self.waitForEnd()
    }
}
