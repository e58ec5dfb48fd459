import KiiPushCore

/// A message as it is handed to somebody outside this process.
struct HandledMessage: Sendable {
    enum Source: Sendable, Hashable {
        case topic(String)
        case bucket(String)
    }

    /// Exactly as it was received.
    let payload: [UInt8]
    /// `pushToApp`, `pushToUser`, `directPush`, or `thingCommand`.
    let kind: String
    /// In the notation of the command line; `nil` for one that comes from neither.
    let source: Source?

    init(_ message: ReceivedMessage) {
        self.payload = message.payloadBytes
        self.kind = message.kind.name
        self.source =
            if let topic = message.sourceTopic {
                .topic(topic.scope.text(of: topic.id))
            } else if let bucket = message.sourceBucket {
                .bucket(bucket.scope.text(of: bucket.id))
            } else {
                nil
            }
    }

    init(_ command: ThingCommand) {
        self.payload = command.rawPayload.serialized()
        self.kind = "thingCommand"
        self.source = nil
    }
}

extension String {
    /// The text with everything percent-encoded that is not visible ASCII, and with `%` itself: a name comes from outside,
    /// and has to stay within a header field, a line and a word.
    var visiblePercentEncoded: String {
        self.utf8.reduce(into: "") { text, byte in
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
