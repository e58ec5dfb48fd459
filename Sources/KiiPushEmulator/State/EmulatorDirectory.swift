import Glibc
import KiiPushCore

struct EmulatorDirectory: Sendable {
    let path: String
    let isTemporary: Bool
    private let lock: FileLock
    let brokerLock: FileLock

    /// Blocks, at most for `brokerPatience`, while the broker of a killed emulator is still saving its sessions.
    init(_ path: String?, brokerPatience: Duration) throws(EmulatorError) {
        if let path {
            try EmulatorError.ofFile(PrivateFile.makeDirectory(path))
            try EmulatorDirectory.makePrivate(path)
            guard let resolved = Directory.resolved(path) else { throw .system("find \(path)", errno) }
            self.path = resolved
        } else {
            self.path = try EmulatorDirectory.makeTemporary()
        }
        self.isTemporary = path == nil
        self.lock = try EmulatorDirectory.lock("\(self.path)/emulator.lock", "another emulator uses \(self.path)")
        self.brokerLock = try EmulatorDirectory.lockBroker("\(self.path)/broker.lock", patience: brokerPatience)
    }

    var statePath: String { "\(self.path)/state.sqlite" }
    var brokerFiles: BrokerFiles { BrokerFiles(directory: "\(self.path)/broker") }

    /// Call this when the broker has ended.
    func release() {
        if self.isTemporary { Directory.remove(self.path) }
        self.brokerLock.release()
        self.lock.release()
    }

    private static func lock(_ path: String, _ refusal: String) throws(EmulatorError) -> FileLock {
        if let lock = try EmulatorError.ofFile(FileLock(path: path)) { return lock }
        let holder = FileLock.holder(of: path).flatMap { Int32(exactly: $0) }
        throw EmulatorError(.directoryInUse(pid: holder), refusal)
    }

    private static func lockBroker(_ path: String, patience: Duration) throws(EmulatorError) -> FileLock {
        let deadline = MonotonicInstant.now() + patience
        while true {
            do throws(EmulatorError) {
                return try EmulatorDirectory.lock(path, "the broker of an earlier emulator holds \(path)")
            } catch {
                guard case .directoryInUse = error.code else { throw error }
                // Without a process ID: the lock file names the emulator that started the broker, and that emulator
                // has ended.
                guard MonotonicInstant.now() < deadline else {
                    throw EmulatorError(.directoryInUse(pid: nil), error.detail)
                }
            }
            // flock(2) has no time limit, so the lock is tried again every 20 ms.
            poll(nil, 0, 20)
        }
    }

    /// Makes an empty directory private. Refuses another user's directory, and a directory with files that others may
    /// access.
    private static func makePrivate(_ path: String) throws(EmulatorError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system("look at \(path)", errno) }
        guard status.st_uid == geteuid() else { throw .system("use \(path), which belongs to another user", EACCES) }
        guard status.st_mode & 0o077 != 0 else { return }
        guard Directory.names(in: path)?.isEmpty == true else {
            throw .system("use \(path), which others may look into", EACCES)
        }
        guard chmod(path, 0o700) == 0 else { throw .system("make the directory \(path) private", errno) }
    }

    private static func makeTemporary() throws(EmulatorError) -> String {
        let placeholder = String(repeating: "X", count: 6)
        var template = Array("/tmp/kii-push-emulator.\(placeholder)".utf8CString)
        guard mkdtemp(&template) != nil else { throw .system("make a temporary directory", errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
