import Foundation
import Glibc
import TestSupport

final class MisusingProcess {
    private let state: String
    private var program: ChildProgram?

    init(state: String) { self.state = state }

    var processID: Int? { self.program.map { Int($0.processID) } }

    func start(isFirst: Bool) throws {
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        self.program = try ChildProgram(
            [productsDirectory.appendingPathComponent("MisusingAgent").path, self.state, isFirst ? "first" : "later"],
            environment: environment)
    }

    /// Waits until the process ends by itself.
    ///
    /// - Returns: the number of the signal that ended it.
    func waitForEnd() async throws -> Int32? {
        guard let program else { return nil }
        let status = try await onThread { program.wait() }
        return status < 0 ? -status : nil
    }

    func stop() async throws {
        self.program?.signal(SIGKILL)
        _ = try await self.waitForEnd()
    }
}
