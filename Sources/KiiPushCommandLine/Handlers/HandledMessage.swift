package import KiiPushCore

package struct HandledMessage: Sendable {
    package struct Source: Sendable, Hashable {
        /// `Topic` or `Bucket`.
        package var kind: String
        package var name: String
    }

    package let agent: String?
    package let payload: [UInt8]
    /// `pushToApp`, `pushToUser`, `directPush`, or `thingCommand`.
    package let kind: String
    package let source: Source?

    package init(_ message: ReceivedMessage, of agent: String? = nil) {
        self.agent = agent
        self.payload = message.payloadBytes
        self.kind = message.kind.name
        self.source =
            message.sourceTopic.map { Source(kind: "Topic", name: $0.spelling) }
            ?? message.sourceBucket.map { Source(kind: "Bucket", name: $0.spelling) }
    }

    package init(_ command: ThingCommand, of agent: String? = nil) {
        self.agent = agent
        self.payload = command.rawPayload.serialized()
        self.kind = "thingCommand"
        self.source = nil
    }

    /// The facts that a handler gets beside the payload. Each value is safe as a header field, a line or a word.
    func facts(_ context: DeliveryContext) -> [(name: String, value: String)] {
        let facts = [("Id", "\(context.messageID)"), ("Kind", self.kind), ("Attempt", "\(context.attempt)")]
        return facts + (self.agent.map { [("Agent", $0)] } ?? [])
            + (self.source.map { [($0.kind, $0.name.visiblePercentEncoded)] } ?? [])
    }
}

extension String {
    fileprivate var visiblePercentEncoded: String {
        self.utf8.reduce(into: "") { text, byte in
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
