import Foundation
import Glibc

/// A small file system in memory. Takes root.
struct SmallDisk {
    private let path: String

    init(at path: String, megabytes: Int) throws {
        self.path = path
        guard mkdir(path, 0o700) == 0, mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m,mode=0700") == 0 else {
            throw FaultError("cannot mount a file system on \(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func ballast(_ path: String) -> String { "\(path)/ballast" }

    static func fill(_ path: String) throws {
        let descriptor = open(SmallDisk.ballast(path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FaultError("cannot fill \(path)") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, page, page.count) > 0 {}
        guard errno == ENOSPC else { throw FaultError("cannot fill \(path): errno \(errno)") }
    }

    static func free(_ path: String) throws {
        try FileManager.default.removeItem(atPath: SmallDisk.ballast(path))
    }

    func unmount() { umount2(self.path, Int32(MNT_DETACH)) }
}
