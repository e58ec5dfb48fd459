import Glibc
import KiiPushCore

/// The directory that an emulator has to itself while it runs.
struct EmulatorDirectory: Sendable {
    let path: String
    let isTemporary: Bool
    private let lock: FileLock
    let brokerLock: FileLock

    /// Takes `path`, or a new temporary directory. Blocks while the broker of a killed emulator still ends.
    ///
    /// - Parameter brokerPatience: how long that broker may take to save its sessions.
    init(_ path: String?, brokerPatience: Duration) throws(EmulatorError) {
        if let path {
            try Files.makePrivateDirectory(path)
            self.path = try Files.absolute(path)
        } else {
            self.path = try Files.makeTemporaryDirectory()
        }
        self.isTemporary = path == nil
        let lockPath = "\(self.path)/emulator.lock"
        guard let lock = try FileLock(path: lockPath) else {
            throw EmulatorError(
                .directoryInUse(pid: FileLock.owner(path: lockPath)), "another emulator uses \(self.path)")
        }
        try lock.recordOwner()
        self.lock = lock
        self.brokerLock = try EmulatorDirectory.lockBroker(
            "\(self.path)/broker.lock", patience: brokerPatience)
    }

    var statePath: String { "\(self.path)/state.sqlite" }
    var brokerFiles: BrokerFiles { BrokerFiles(directory: "\(self.path)/broker") }

    /// Gives the directory back, and removes it if it was made for this start alone. The broker has ended.
    func release() {
        if self.isTemporary { Files.removeTree(self.path) }
        self.brokerLock.release()
        self.lock.release()
    }

    private static func lockBroker(_ path: String, patience: Duration) throws(EmulatorError) -> FileLock {
        let deadline = MonotonicInstant.now() + patience
        while true {
            if let lock = try FileLock(path: path) { return lock }
            guard MonotonicInstant.now() < deadline else {
                throw EmulatorError(.directoryInUse(pid: nil), "the broker of an earlier emulator holds \(path)")
            }
            // Nothing tells when a lock is let go, and waiting in flock() itself has no end.
            poll(nil, 0, 20)
        }
    }
}
