import Glibc
import KiiPushCore
import Testing

/// A reader opens a file and its logs by name, one after another. A lock keeps the inbox from replacing them meanwhile.
@Suite struct InboxNamesTests {
    private let fixture: InboxFixture
    private let configuration: Inbox.Configuration
    private let directory: DirectoryLock

    init() throws {
        self.fixture = try InboxFixture()
        var configuration = Inbox.Configuration()
        configuration.busyTimeout = .milliseconds(10)
        self.configuration = configuration
        _ = try self.fixture.open()
        self.directory = try DirectoryLock(self.fixture.directory)
    }

    @Test func aDamagedFileStaysWhereItIsWhileSomebodyOpensIt() throws {
        try self.fixture.change { bytes in bytes.replaceSubrange(..<100, with: [UInt8](repeating: 0xA5, count: 100)) }
        self.directory.lock(LOCK_SH)
        let error = #expect(throws: InboxError.self) { _ = try self.replace() }
        #expect(error?.kind == .locked)
        #expect(try !self.fixture.names().contains { $0.contains("damaged") })
        self.directory.lock(LOCK_UN)
        try self.replace().verify()
    }

    @Test func nobodyOpensAFileWhileItIsReplaced() throws {
        self.directory.lock(LOCK_EX)
        let error = #expect(throws: InboxError.self) { _ = try self.read() }
        #expect(error?.kind == .locked)
        self.directory.lock(LOCK_UN)
        try self.read().verify()
    }

    @Test func readersOpenAFileTogether() throws {
        self.directory.lock(LOCK_SH)
        #expect(throws: Never.self) { try self.read().verify() }
    }

    private func read() throws -> Inbox {
        var configuration = self.configuration
        configuration.isReadOnly = true
        return try Inbox(path: self.fixture.path, configuration: configuration)
    }

    private func replace() throws -> Inbox {
        try Inbox.replaceDamaged(
            self.fixture.path, configuration: self.configuration, .init(reason: "damage", foundAt: .at(5_000_000)))
    }
}

private final class DirectoryLock {
    private let descriptor: Int32

    init(_ path: String) throws {
        self.descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(self.descriptor >= 0)
    }

    deinit { close(self.descriptor) }

    func lock(_ operation: Int32) { #expect(flock(self.descriptor, operation | LOCK_NB) == 0) }
}
