import Glibc
import KiiPushCore

package struct Journal: Sendable {
    package enum Priority: Int, Sendable {
        case error = 3
        case warning = 4
        case information = 6
    }

    private let socket: DatagramSocket
    let hasStandardOutput: Bool

    package init?(path: String, hasStandardOutput: Bool) {
        guard let socket = DatagramSocket(path: path, patience: .zero) else { return nil }
        self.socket = socket
        self.hasStandardOutput = hasStandardOutput
    }

    /// The journal, if standard error goes to the journal; `nil` otherwise, or if the system provides no socket.
    ///
    /// - Parameter stream: the value of `$JOURNAL_STREAM`.
    package static func connected(stream: String?, path: String = "/run/systemd/journal/socket") -> Journal? {
        guard let stream, Self.isStream(stream, STDERR_FILENO) else { return nil }
        return Journal(path: path, hasStandardOutput: Self.isStream(stream, STDOUT_FILENO))
    }

    /// Whether a descriptor is the stream that `$JOURNAL_STREAM` names by device and inode. A process with other
    /// descriptors may have inherited the variable.
    ///
    /// - Source: systemd.exec(5).
    static func isStream(_ stream: String, _ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    package func write(_ message: String, _ priority: Priority, _ fields: [(String, String)]) -> Bool {
        let head = [("MESSAGE", message), ("PRIORITY", String(priority.rawValue)), ("SYSLOG_IDENTIFIER", "kii-push")]
        return self.socket.send((head + fields).flatMap { Self.line($0.0, $0.1) })
    }

    private static func line(_ name: String, _ value: String) -> [UInt8] {
        let bytes = Array(value.utf8)
        guard bytes.contains(UInt8(ascii: "\n")) else { return Array("\(name)=\(value)\n".utf8) }
        // A value with a line feed is preceded by its length: 64 bits, little-endian.
        let length = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
        return Array("\(name)\n".utf8) + length + bytes + [UInt8(ascii: "\n")]
    }
}
