import Foundation
import Glibc
import TestSupport
import Testing

@testable import KiiPushCore

/// The locks of this process come from the kernel's list, because they count for other processes.
@Suite struct InstallationLockTests {
    /// Expects that this process has locked this number of bytes in the files of `directory`. The kernel would list
    /// neighbouring bytes as one lock, but no two locked bytes are neighbours here.
    private func expectLocked(_ count: Int, in directory: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: directory).map { name in
            var status = stat()
            try #require(stat("\(directory)/\(name)", &status) == 0)
            return ":\(status.st_ino) "
        }
        let own = " POSIX  ADVISORY  WRITE \(getpid()) "
        var counted = -1
        // The kernel reports the locks page by page. Locks of other processes move entries to another page meanwhile.
        for _ in 1...100 where counted != count {
            let file = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
            // The file is empty while no process on the machine has a lock.
            let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            counted = text.split(separator: "\n").count { line in
                line.contains(own) && files.contains { line.contains($0) }
            }
        }
        #expect(counted == count)
    }

    private func openFiles(in directory: String) throws -> Int {
        let descriptors = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: descriptors).count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
            return target?.hasPrefix(directory) == true
        }
    }

    @Test func theSecondHolderInOneProcessIsRefused() throws {
        try withTemporaryDirectory { directory in
            var first: InstallationLock? = try InstallationLock(installationID: "a", directory: directory)
            let error = #expect(throws: PushAgentError.self) {
                _ = try InstallationLock(installationID: "a", directory: directory)
            }
            guard case .installationInUse("a", Int(getpid()))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try self.expectLocked(1, in: directory)
            withExtendedLifetime(first) {}
            first = nil
            try self.expectLocked(0, in: directory)
            #expect(try self.openFiles(in: directory) == 0)
            _ = try InstallationLock(installationID: "a", directory: directory)
        }
    }

    @Test func manyTakeFewFilesAndEachLetsGoOfItsOwnAlone() throws {
        try withTemporaryDirectory { directory in
            var locks = try (0..<1_000).map { number in
                try InstallationLock(installationID: "installation-\(number)", directory: directory)
            }
            #expect(try self.openFiles(in: directory) <= 64)
            try self.expectLocked(1_000, in: directory)
            locks.removeFirst(990)
            try self.expectLocked(10, in: directory)
            #expect(throws: PushAgentError.self) {
                _ = try InstallationLock(installationID: "installation-999", directory: directory)
            }
            try self.expectLocked(10, in: directory)
            locks = []
            #expect(try self.openFiles(in: directory) == 0)
        }
    }

    @Test func aFileThatSomebodyReplacedIsOpenedAnewAndItsLocksStay() throws {
        try withTemporaryDirectory { directory in
            let before = try InstallationLock(installationID: "a", directory: directory)
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: directory).first)
            try FileManager.default.moveItem(atPath: "\(directory)/\(name)", toPath: "\(directory)/former")
            #expect(throws: PushAgentError.self) { _ = try InstallationLock(installationID: "a", directory: directory) }
            let others = try (0..<200).map { number in
                try InstallationLock(installationID: "other-\(number)", directory: directory)
            }
            try self.expectLocked(201, in: directory)
            withExtendedLifetime((before, others)) {}
        }
    }

    @Test func whatCleansUpTemporaryFilesIsToldThatItIsInUse() throws {
        try withTemporaryDirectory { directory in
            let lock = try InstallationLock(installationID: "a", directory: directory)
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: directory).first)
            let descriptor = open("\(directory)/\(name)", O_RDWR | O_CLOEXEC)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            // `systemd-tmpfiles` tries this lock, and keeps files whose lock it does not get.
            let refusal = flock(descriptor, LOCK_EX | LOCK_NB) == -1 ? errno : 0
            #expect(refusal == EWOULDBLOCK)
            withExtendedLifetime(lock) {}
        }
    }

    @Test func aPathThatCannotBeMadeIsReported() {
        let error = #expect(throws: PushAgentError.self) {
            _ = try InstallationLock(installationID: "a", directory: "/nonexistent")
        }
        guard case .file(.system(_, _, ENOENT))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
