package import KiiPushCore

/// Messages in a file, one JSON object in each line, for `kii-push replay`. The file has no tokens and no MQTT topics,
/// which would identify the installation.
package enum MessageRecording {
    /// A valid payload is JSON in UTF-8, so the text keeps every byte of the payload.
    package static func line(_ message: ReceivedMessage, id: Int64, receivedAt: Timestamp) -> String {
        JSONValue.object([
            ("v", 1), ("type", "recorded"), ("id", JSONValue(id)),
            ("received_at_ms", JSONValue(receivedAt.millisecondsSinceEpoch)),
            ("payload", JSONValue(String(decoding: message.payloadBytes, as: UTF8.self))),
        ]).text + "\n"
    }

    /// Skips empty lines.
    ///
    /// - Parameter leaveOut: called for each line that is no message, such as a line that was cut short.
    /// - Throws: ``CommandFailure`` with exit 66 if the file cannot be read. With exit 65 and the number of the first
    ///   non-empty line if there is such a line and no line is a message; `leaveOut` is then not called.
    package static func read(_ path: String, leaveOut: (CommandFailure) -> Void) throws -> [ReplayedMessage] {
        var flaws: [CommandFailure] = []
        let messages = try self.messages(in: InputFile.read(path), of: path == "-" ? "standard input" : path) {
            flaws.append($0)
        }
        if messages.isEmpty, let first = flaws.first { throw first }
        flaws.forEach(leaveOut)
        return messages
    }

    package static func messages(
        in recording: [UInt8], of name: String, refuse: (CommandFailure) throws -> Void = { throw $0 }
    ) throws -> [ReplayedMessage] {
        let lines = recording.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return try lines.enumerated().filter { !$1.isEmpty }.compactMap { index, line -> ReplayedMessage? in
            do {
                return try self.message(JSONDocument(parsing: Array(line), in: ()))
            } catch {
                try refuse(
                    CommandFailure(
                        .badInput, "\(name):\(index + 1): this is no recorded message: \(error)",
                        hint: "make a recording with: kii-push listen --record FILE"))
                return nil
            }
        }
    }

    private static func message(_ line: JSONDocument) throws -> ReplayedMessage {
        guard line.value["type"]?.string == "recorded", line.value["v"]?.int64 == 1 else {
            throw line.failure("must have \"v\": 1 and \"type\": \"recorded\"")
        }
        let time = (1 << 53) - 1 as Int64
        return ReplayedMessage(
            id: try line.required("id").integer(),
            receivedAt: Timestamp(
                millisecondsSinceEpoch: try line.required("received_at_ms").integer(in: -time...time)),
            received: try ReceivedMessage(payload: Array(line.required("payload").text().utf8)))
    }
}

package struct ReplayedMessage: Sendable {
    package let id: Int64
    package let receivedAt: Timestamp
    package let received: ReceivedMessage

    package init(id: Int64, receivedAt: Timestamp, received: ReceivedMessage) {
        self.id = id
        self.receivedAt = receivedAt
        self.received = received
    }

    package func context(attempt: Int) -> DeliveryContext {
        DeliveryContext(
            installationID: "", messageID: self.id, receivedAt: self.receivedAt, attempt: attempt,
            deadlineInstant: .now() + HandlerOptions.longest)
    }
}
