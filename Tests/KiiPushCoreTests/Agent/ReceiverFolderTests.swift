import Foundation
import Glibc
import Testing

@testable import KiiPushCore

/// Programs that receive announce themselves to an emulator on the same machine.
@Suite struct ReceiverFolderTests {
    private func stateDirectory(_ path: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return try #require(realpath(path, nil).map { String(cString: $0) })
    }

    @Test func eachStateDirectoryHasANameOfItsOwn() throws {
        try withTemporaryDirectory { directory in
            let folder = ReceiverFolder(in: directory + "/run")
            #expect(folder.entries().isEmpty)
            let (one, two) = (try self.stateDirectory(directory + "/a/x"), try self.stateDirectory(directory + "/b/x"))
            var first = folder.announce(one)
            var second = folder.announce(two)
            let entries = folder.entries()
            #expect(entries.map(\.stateDirectory) == [one, two])
            #expect(entries.first?.name == "x" && entries.last?.name.hasPrefix("x.") == true)
            // A second process of the same directory, after the first was killed.
            var again = folder.announce(one)
            #expect(folder.entries() == entries)
            again = nil
            #expect(folder.entries().map(\.stateDirectory) == [two])
            // Another program now has the name, and keeps it.
            #expect(symlink(two, directory + "/run/receivers/x") == 0)
            first = nil
            #expect(folder.entries().map(\.name).first == "x")
            second = nil
            #expect(folder.entries().map(\.name) == ["x"])
            withExtendedLifetime((first, second, again)) {}
        }
    }

    @Test func aLinkToADirectoryThatIsGoneIsRemoved() throws {
        try withTemporaryDirectory { directory in
            let folder = ReceiverFolder(in: directory + "/run")
            let state = try self.stateDirectory(directory + "/state")
            let announced = folder.announce(state)
            #expect(rmdir(state) == 0)
            #expect(folder.entries().isEmpty)
            var status = stat()
            #expect(lstat(directory + "/run/receivers/state", &status) != 0)
            withExtendedLifetime(announced) {}
        }
    }

    @Test func nothingIsAnnouncedWhereOthersMayLook() throws {
        try withTemporaryDirectory { directory in
            let state = try self.stateDirectory(directory + "/state")
            let folder = ReceiverFolder(in: directory + "/run")
            _ = try self.stateDirectory(directory + "/run/receivers")
            #expect(chmod(directory + "/run/receivers", 0o755) == 0)
            #expect(folder.announce(state) == nil && folder.entries().isEmpty)
            // No announcement either if the folder cannot be created or the state directory does not exist.
            #expect(ReceiverFolder(in: directory + "/run/receivers/x").announce(directory + "/none") == nil)
            #expect(FileManager.default.createFile(atPath: directory + "/file", contents: nil))
            #expect(ReceiverFolder(in: directory + "/file").announce(state) == nil)
        }
    }

    @Test func theFolderIsOfTheUsersRuntimeDirectory() {
        #expect(RuntimeDirectory.standard { $0 == "XDG_RUNTIME_DIR" ? "/run/user/7" : nil } == "/run/user/7/kii-push")
        for value in [nil, "", "relative"] {
            #expect(RuntimeDirectory.standard { _ in value } == "/tmp/kii-push-\(geteuid())")
        }
    }
}
