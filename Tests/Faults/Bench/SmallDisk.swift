import Foundation
import Glibc

/// A file system in memory that is nearly full. Takes root.
struct SmallDisk {
    // A database, its log and its index fit in beside the ballast; some hundreds of messages do not.
    private static let size = 24 << 20
    private static let ballast = 22 << 20

    private let path: String

    init(at path: String) throws {
        self.path = path
        guard mkdir(path, 0o700) == 0, mount("tmpfs", path, "tmpfs", 0, "size=\(SmallDisk.size),mode=0700") == 0 else {
            throw FaultError("cannot mount a file system on \(path): \(String(cString: strerror(errno)))")
        }
        let ballast = Data(count: SmallDisk.ballast)
        guard FileManager.default.createFile(atPath: "\(path)/ballast", contents: ballast) else {
            throw FaultError("cannot fill \(path)")
        }
    }

    /// Takes the ballast away.
    static func free(_ path: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/ballast")
    }

    func unmount() { umount2(self.path, Int32(MNT_DETACH)) }
}
