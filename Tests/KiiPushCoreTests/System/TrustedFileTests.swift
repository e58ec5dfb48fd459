import Foundation
import KiiPushCore
import TestSupport
import Testing

/// Files that decide where secrets go. No other user may be able to change the file, or a folder or link in its path.
@Suite struct TrustedFileTests {
    private func withFile(_ body: (String) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory + "/outer/inner", withIntermediateDirectories: true)
            try Data("text".utf8).write(to: URL(fileURLWithPath: directory + "/outer/inner/file"))
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/outer/link", withDestinationPath: "../outer/./inner/file")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/way", withDestinationPath: directory + "/outer/link")
            for name in ["/outer", "/outer/inner"] { #expect(chmod(directory + name, 0o755) == 0) }
            #expect(chmod(directory + "/outer/inner/file", 0o644) == 0)
            try body(directory)
        }
    }

    @Test(arguments: ["/outer/inner/file", "/outer/link", "/way", "/outer/../outer/inner/./file"])
    func whatOnlyThisUserCanReplaceIsRead(name: String) throws {
        try self.withFile { directory in
            // In a sticky folder, only its owner can replace an entry.
            for mode: mode_t in [0o755, 0o1777] {
                #expect(chmod(directory + "/outer", mode) == 0)
                let read = try TrustedFile.read(directory + name)
                #expect(read == Array("text".utf8))
            }
        }
    }

    @Test(arguments: ["/outer/inner/file", "/outer/link", "/way"], [0o777, 0o775] as [mode_t])
    func aFolderAnywhereOnTheWayThatOthersCanWriteIsNamed(name: String, mode: mode_t) throws {
        try self.withFile { directory in
            #expect(chmod(directory + "/outer", mode) == 0)
            #expect(throws: FileError.writableByOthers(path: directory + "/outer", mode: UInt32(mode))) {
                try TrustedFile.read(directory + name)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func aLinkOfAnotherUserInAStickyFolderIsRefused() throws {
        try self.withFile { directory in
            #expect(chmod(directory + "/outer", 0o1777) == 0)
            #expect(lchown(directory + "/outer/link", 12_345, 12_345) == 0)
            #expect(throws: FileError.self) { try TrustedFile.read(directory + "/way") }
            let own = try TrustedFile.read(directory + "/outer/inner/file")
            #expect(own != nil)
        }
    }

    @Test func whatIsNotThereIsNothing() throws {
        try self.withFile { directory in
            let none = try TrustedFile.read(directory + "/outer/none/file")
            #expect(none == nil)
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/circle", withDestinationPath: "circle")
            #expect(throws: FileError.system(path: directory + "/circle", operation: "open", code: ELOOP)) {
                try TrustedFile.read(directory + "/circle")
            }
        }
    }
}
