import KiiPushCommandLine
import KiiPushCore
import kii_push

/// Recordings for `kii-push replay`. The input is the recording.
enum RecordingFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        switch Self.messages(input) {
        case .success(let messages):
            claims.require(messages.count == lines.count { !$0.isEmpty }, "each line is a message")
            let written = messages.map { Self.line($0) }
            claims.require(written.allSatisfy { $0.firstIndex(of: 0x0A) == $0.count - 1 }, "a message is one line")
            guard case .success(let again) = Self.messages(written.flatMap(\.self)) else {
                claims.require(false, "what is recorded is read")
                break
            }
            claims.require(again.map { Self.line($0) } == written, "what is recorded is read as it is")
            claims.require(zip(again, messages).allSatisfy { Self.isSame($0, $1) }, "and means the same")
        case .failure(let failure):
            claims.require(failure.exit == .badInput, "the exit says that the input is bad")
            claims.require(failure.hint != nil, "a failure says what to do")
            // The first line that is not a message by itself.
            let place = lines.firstIndex { !$0.isEmpty && (try? Self.messages(Array($0)).get()) == nil }
            let start = "recording:\((place ?? -1) + 1): "
            claims.require(failure.message.hasPrefix(start), "\(failure.message.prefix(16)) is \(start)")
        }
        return claims.violated
    }

    private static func messages(_ recording: [UInt8]) -> Result<[ReplayedMessage], CommandFailure> {
        do {
            return .success(try MessageRecording.messages(in: recording, of: "recording"))
        } catch let failure as CommandFailure {
            return .failure(failure)
        } catch {
            fatalError("\(type(of: error)) is no failure of the command line")
        }
    }

    private static func line(_ message: ReplayedMessage) -> [UInt8] {
        Array(MessageRecording.line(message.received, id: message.id, receivedAt: message.receivedAt).utf8)
    }

    private static func isSame(_ left: ReplayedMessage, _ right: ReplayedMessage) -> Bool {
        left.id == right.id && left.receivedAt == right.receivedAt && left.received == right.received
            && left.received.payloadBytes == right.received.payloadBytes
    }
}
