import Glibc
import KiiPushActivation
package import KiiPushCore

package final class MessageRecorder: Sendable {
    private static let end = UInt8(ascii: "\n")

    private let output: OutputQueue

    /// Opens a recording to append to it, or creates one with mode 0600.
    ///
    /// - Throws: ``CommandFailure`` with exit 73 if the file cannot be written, or if a regular file belongs to another
    ///   user, or is neither empty nor a recording. Senders' text must get into recordings only.
    package init(_ path: String) throws {
        func failure(_ reason: String, _ hint: String? = nil) -> CommandFailure {
            CommandFailure(.cannotCreate, "cannot write \(path): \(reason)", hint: hint)
        }
        var before = stat()
        let isFile = stat(path, &before) != 0 || before.st_mode & S_IFMT == S_IFREG
        // Only a regular file is opened for reading too. A process that opens a pipe for reading counts as its reader.
        let descriptor = open(path, (isFile ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errorText(errno)) }
        self.output = OutputQueue(descriptor: descriptor, name: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errorText(errno)) }
        // Devices and pipes keep their modes.
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        guard isFile, status.st_uid == geteuid() else { throw failure("it belongs to user \(status.st_uid)") }
        guard status.st_size == 0 || Self.isRecording(descriptor) else {
            throw failure("it is not empty and no recording", "name a new file, or a recording to add to")
        }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw CommandFailure(.cannotCreate, "cannot close \(path) to others: \(errorText(errno))")
        }
        if status.st_size > 0 { try self.endLastLine(status.st_size, descriptor) }
    }

    /// Ends a line that a killed process or a full disk has cut short, so that the next message begins a new line.
    private func endLastLine(_ size: off_t, _ descriptor: Int32) throws {
        var last: UInt8 = 0
        let isRead = pread(descriptor, &last, 1, size - 1) == 1
        if !isRead || last != Self.end { try self.output.put([Self.end]) }
    }

    /// Whether the first line is a recorded message. A line that is longer than any message is not.
    private static func isRecording(_ descriptor: Int32) -> Bool {
        var line: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while line.last != self.end, line.count <= LineBuffer.maximumBytes {
            let count = pread(descriptor, &chunk, chunk.count, off_t(line.count))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            let part = chunk[..<count]
            line += part.firstIndex(of: self.end).map { part[...$0] } ?? part
        }
        return (try? MessageRecording.messages(in: line, of: ""))?.isEmpty == false
    }

    /// Adds a message on its first attempt. The file has the message when ``written()`` has returned.
    package func record(_ message: ReceivedMessage, _ context: DeliveryContext) throws {
        guard context.attempt == 1 else { return }
        try self.output.put(
            Array(MessageRecording.line(message, id: context.messageID, receivedAt: context.receivedAt).utf8))
    }

    package func written() async throws { try await self.output.written() }
    package func waitUntilWritten() throws { try self.output.waitUntilWritten() }
}
