import Glibc
import TestSupport
import Testing

@testable import KiiPushCore

/// How a runtime takes its state directory, and lets go of it.
@Suite(.timeLimit(.minutes(10))) struct PushRuntimeTests {
    private func runtime(_ directory: String) throws -> PushRuntime {
        try PushRuntime(configuration: PushRuntime.Configuration(stateDirectory: directory))
    }

    @Test func theLockIsFreeWhenTheRuntimeHasShutDown() async throws {
        try await withTemporaryDirectory { directory in
            for _ in 1...10 {
                let runtime = try self.runtime(directory)
                // As a task does that is about to end.
                let core = try await runtime.open()
                await runtime.shutdown()
                #expect(try LockFile.isFree("\(directory)/lock"))
                withExtendedLifetime(core) {}
            }
        }
    }
}

extension LockFile {
    fileprivate static func isFree(_ path: String) throws -> Bool {
        do throws(LockError) {
            _ = try LockFile(path: path)
            return true
        } catch {
            if case .held = error { return false }
            throw error
        }
    }
}
