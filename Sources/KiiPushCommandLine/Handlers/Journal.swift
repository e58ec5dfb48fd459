import Glibc
import KiiPushCore

/// Writes entries with fields to the system's journal, in its own protocol.
///
/// - Source: systemd's "Native Journal Protocol".
package struct Journal: Sendable {
    /// syslog(3)'s numbers.
    package enum Priority: Int, Sendable {
        case error = 3
        case warning = 4
        case information = 6
    }

    private let socket: DatagramSocket
    /// Whether standard output goes to the journal as well, where its lines would appear twice.
    let hasStandardOutput: Bool

    package init?(path: String, hasStandardOutput: Bool) {
        guard let socket = DatagramSocket(path: path, patience: .zero) else { return nil }
        self.socket = socket
        self.hasStandardOutput = hasStandardOutput
    }

    /// The journal behind standard error; `nil` if there is none. `stream` is `$JOURNAL_STREAM`.
    package static func connected(stream: String?, path: String = "/run/systemd/journal/socket") -> Journal? {
        guard let stream, Self.isStream(stream, STDERR_FILENO) else { return nil }
        return Journal(path: path, hasStandardOutput: Self.isStream(stream, STDOUT_FILENO))
    }

    /// Whether a descriptor is the stream that `$JOURNAL_STREAM` names by device and inode. A process inherits the
    /// variable even when its descriptors are others.
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
        // For a value with a line end: its length in 64 bits, lowest byte first, then the value.
        let length = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
        return Array("\(name)\n".utf8) + length + bytes + [UInt8(ascii: "\n")]
    }
}
