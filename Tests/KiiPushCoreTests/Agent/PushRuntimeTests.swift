import Glibc
import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct PushRuntimeTests {
    private func runtime(_ directory: String) throws -> PushRuntime {
        try PushRuntime(configuration: PushRuntime.Configuration(stateDirectory: directory))
    }

    @Test func theLockIsFreeWhenTheRuntimeHasShutDown() async throws {
        try await withTemporaryDirectory { directory in
            for _ in 1...10 {
                let runtime = try self.runtime(directory)
                // The shutdown comes right after the opening, as in a task that is about to end.
                let core = try await runtime.open()
                await runtime.shutdown()
                #expect(try FileLock.isFree("\(directory)/lock"))
                withExtendedLifetime(core) {}
            }
        }
    }

    @Test func aDirectoryThatIsNotOursToWriteMeansMemory() async throws {
        try await withTemporaryDirectory { directory in
            // Nobody can create a directory inside a file, not even root.
            try PrivateFile.replace("\(directory)/file", with: [])
            let runtime = try self.runtime("\(directory)/file/state")
            let core = try await runtime.open()
            #expect(!core.isDurable)
            guard case .notice(.inboxInMemory, _, _)? = core.events.first else {
                Issue.record("\(core.events)")
                return
            }
            await runtime.shutdown()
        }
    }

    @Test func whatElseKeepsTheLockAwayIsNoReasonToForgetTheFile() async throws {
        try await withTemporaryDirectory { directory in
            // A link fails for every user, whatever the permissions.
            #expect(symlink("lock", "\(directory)/lock") == 0)
            let runtime = try self.runtime(directory)
            await #expect {
                _ = try await runtime.open()
            } throws: { error in
                guard case PushAgentError.file(.notAFile)? = error as? PushAgentError else {
                    return false
                }
                return true
            }
            await runtime.shutdown()
        }
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOSPC, EIO]) func whatMayPassIsNoPermission(code: Int32) {
        let error = FileError.system(path: "/a", operation: "lock", code: code)
        #expect(error.isTemporary)
        #expect(!error.forbidsWriting)
    }

    @Test(arguments: [EACCES, EPERM, EROFS, ENOENT, ENOTDIR]) func permissionsDoNotPass(code: Int32) {
        let error = FileError.system(path: "/a", operation: "lock", code: code)
        #expect(!error.isTemporary)
        #expect(error.forbidsWriting)
    }
}

extension FileLock {
    fileprivate static func isFree(_ path: String) throws -> Bool {
        try FileLock(path: path) != nil
    }
}
