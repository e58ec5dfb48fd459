import Glibc
import KiiPushCore

/// Messages on file, one JSON object a line, for `kii-push replay`. It holds what was received, with mode 0600; no token
/// and no MQTT topic, which names the installation.
enum MessageRecording {
    /// What a handler gets is JSON, and so UTF-8: the text is the payload byte for byte.
    static func line(_ message: ReceivedMessage, id: Int64, receivedAt: Timestamp) -> String {
        JSONValue.object([
            ("v", 1), ("type", "recorded"), ("id", JSONValue(id)),
            ("received_at_ms", JSONValue(receivedAt.millisecondsSinceEpoch)),
            ("payload", JSONValue(String(decoding: message.payloadBytes, as: UTF8.self))),
        ]).text + "\n"
    }
}

/// Writes a recording.
final class MessageRecorder: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens the file to write behind what it holds.
    ///
    /// - Throws: ``CommandFailure`` with exit 73.
    init(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotCreate, "cannot write \(path): \(errorText(errno))")
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(self.descriptor) }

    /// - Throws: ``CommandFailure`` with exit 74.
    func record(_ message: ReceivedMessage, _ context: DeliveryContext) throws {
        // Once a message: a retry is the same one again.
        guard context.attempt == 1 else { return }
        var bytes = Array(
            MessageRecording.line(message, id: context.messageID, receivedAt: context.receivedAt).utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(self.descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                throw CommandFailure(.inputOutput, "cannot write \(self.path): \(errorText(errno))")
            }
        }
    }
}
