import Glibc
import Testing

@testable import KiiPushCore

@Suite struct AgentStateTests {
    /// The agent's state also survives an address that is not a URL.
    @Test(arguments: ["https://api.kii.com/api", "no URL"])
    func whatIsWrittenCanBeRead(baseURL: String) throws {
        let app = KiiApp(appID: "app", appKey: "key", baseURL: baseURL)
        let state = AgentState(
            appID: app.appID, account: "pseudo-user", principal: .user("u"),
            token: AccessToken(principal: .user("u"), token: "t"), issuer: app.tokenIssuer)
        #expect(try AgentStateFile.state(in: state.json.serialized(), path: "default.json") == state)
    }
}

@Suite struct FileLockTests {
    @Test func theSecondHolderLearnsWhoTheFirstIs() throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/lock"
            let first = try #require(try FileLock(path: path))
            #expect(try FileLock(path: path) == nil)
            #expect(FileLock.holder(of: path) == Int(getpid()))
            _ = consume first
            #expect(try FileLock(path: path) != nil)
        }
    }

    @Test func aPathThatCannotBeMadeIsReported() {
        #expect(throws: FileError.system(path: "/nonexistent/lock", operation: "open", code: ENOENT)) {
            _ = try FileLock(path: "/nonexistent/lock")
        }
    }
}

@Suite struct PrivateFileTests {
    /// An entry that another user may have put in the place of a file.
    enum Obstacle: CaseIterable {
        case link
        case pipe
        case folder

        func make(_ path: String) throws {
            let isMade =
                switch self {
                case .link: symlink("/dev/null", path)
                case .pipe: mkfifo(path, 0o600)
                case .folder: mkdir(path, 0o700)
                }
            try #require(isMade == 0)
        }
    }

    @Test(arguments: Obstacle.allCases) func whatIsNoFileIsNeitherReadNorLocked(_ obstacle: Obstacle) throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/state"
            try obstacle.make(path)
            #expect(throws: FileError.notAFile(path: path)) { _ = try PrivateFile.read(path) }
            #expect(throws: FileError.notAFile(path: path)) { _ = try FileLock(path: path) }
        }
    }

    @Test func aLinkIsReplacedAndNotFollowed() throws {
        try withTemporaryDirectory { directory in
            try PrivateFile.replace("\(directory)/target", with: Array("kept".utf8))
            try #require(symlink("target", "\(directory)/state") == 0)
            try PrivateFile.replace("\(directory)/state", with: Array("new".utf8))
            #expect(try PrivateFile.read("\(directory)/target") == Array("kept".utf8))
            #expect(try PrivateFile.read("\(directory)/state") == Array("new".utf8))
        }
    }

    @Test(arguments: [UInt32(0o600), 0o644]) func theModeIsTheSameWhateverTheUmask(mode: UInt32) throws {
        try withTemporaryDirectory { directory in
            try OwnFile.replace("\(directory)/file", with: [], mode: mode)
            var status = stat()
            #expect(stat("\(directory)/file", &status) == 0 && status.st_mode & 0o777 == mode)
        }
    }

    @Test func whatIsReplacedIsReadBackWithMode0600() throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/state.json"
            #expect(try PrivateFile.read(path) == nil)
            try PrivateFile.replace(path, with: Array("one".utf8))
            try PrivateFile.replace(path, with: Array("two".utf8))
            #expect(try PrivateFile.read(path) == Array("two".utf8))
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644] as [mode_t])
    func aFileOpenToOthersIsRefused(mode: mode_t) throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/state.json"
            try PrivateFile.replace(path, with: [])
            chmod(path, mode)
            #expect(throws: FileError.tooOpen(path: path, mode: UInt32(mode))) { _ = try PrivateFile.read(path) }
        }
    }

    @Test func aDirectoryIsNoStateFile() throws {
        try withTemporaryDirectory { directory in
            #expect(throws: FileError.notAFile(path: directory)) { _ = try PrivateFile.read(directory) }
        }
    }

    @Test func directoriesAreMadeForTheirOwnerAlone() throws {
        try withTemporaryDirectory { directory in
            try PrivateFile.makeDirectory("\(directory)/a/b")
            var status = stat()
            #expect(stat("\(directory)/a", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }
    }

    // The file system of /proc has no disk, so `fsync` fails with EINVAL.
    @Test func aDirectoryThatCannotBeWrittenThroughIsNoFailure() throws {
        let directory = open("/proc", O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        try #require(fsync(directory) != 0 && errno == EINVAL)
        try PrivateFile.synchronizeDirectory(of: "/proc/version")
        #expect(throws: FileError.system(path: "/nonexistent", operation: "open", code: ENOENT)) {
            try PrivateFile.synchronizeDirectory(of: "/nonexistent/file")
        }
    }

    @Test func aFailedReplacementLeavesTheOldContent() throws {
        try withTemporaryDirectory { directory in
            let path = "\(directory)/state"
            mkdir(path, 0o700)
            #expect(throws: FileError.self) { try PrivateFile.replace(path, with: []) }
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFDIR)
        }
    }
}

@Suite struct LockDirectoryTests {
    private func locks(_ directory: String) throws -> String {
        try StateDirectory.locks(shared: "\(directory)/tmp", in: "\(directory)/state")
    }

    @Test func isThisUsersOwnBelowASharedDirectory() throws {
        try withTemporaryDirectory { directory in
            let locks = try self.locks(directory)
            #expect(locks == "\(directory)/tmp/kii-push-\(geteuid())/installations")
            #expect(try self.locks(directory) == locks)
            var status = stat()
            #expect(stat(locks, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }
    }

    enum Trap: CaseIterable { case openToOthers, link, file }

    @Test(arguments: Trap.allCases) func isTheStateDirectoryWhereAnotherMayHaveMadeIt(trap: Trap) throws {
        try withTemporaryDirectory { directory in
            let name = "\(directory)/tmp/kii-push-\(geteuid())"
            try PrivateFile.makeDirectory("\(directory)/tmp")
            switch trap {
            case .openToOthers:
                try #require(mkdir(name, 0o700) == 0)
                try #require(chmod(name, 0o770) == 0)
            case .link: try #require(symlink(directory, name) == 0)
            case .file: try PrivateFile.replace(name, with: [])
            }
            #expect(try self.locks(directory) == "\(directory)/state/installations")
        }
    }
}
