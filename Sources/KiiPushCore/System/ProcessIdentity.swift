import Glibc

/// The identity of a process. The kernel reuses process IDs, but no two processes have the ID, the start time and the
/// boot in common.
package struct ProcessIdentity: Sendable, Hashable {
    package let processID: Int32
    /// In kernel ticks since the boot: field 22 of `/proc/PID/stat`, proc(5).
    package let startTime: UInt64
    package let boot: String

    package init(processID: Int32, startTime: UInt64, boot: String) {
        (self.processID, self.startTime, self.boot) = (processID, startTime, boot)
    }

    /// Returns `nil` if no process has this ID, the process is a zombie, or `/proc` is unreadable.
    package init?(of processID: Int32) {
        guard let text = Self.read("/proc/\(processID)/stat"), let end = text.lastIndex(of: ")"),
            let boot = Self.read("/proc/sys/kernel/random/boot_id")
        else { return nil }
        // proc(5): the name in parentheses may contain any bytes. Field 3, the state, follows the last parenthesis.
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X", let startTime = UInt64(fields[19]) else {
            return nil
        }
        self.init(processID: processID, startTime: startTime, boot: String(boot.prefix { $0 != "\n" }))
    }

    package var isRunning: Bool { ProcessIdentity(of: self.processID) == self }

    package var isOwn: Bool {
        // proc(5): the line has the real, effective, saved and file system user ID.
        guard let status = Self.read("/proc/\(self.processID)/status"),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Uid:") })
        else { return false }
        let users = line.split { $0 == "\t" || $0 == " " }.dropFirst()
        return users.dropFirst().first.flatMap { UInt32($0) } == geteuid()
    }

    private static func read(_ path: String) -> String? {
        guard let file = FileDescriptor(opening: path, O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = file.read(into: &bytes)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
