/// The last message that a broker brought as the topic's retained one.
///
/// A broker brings it anew after every SUBSCRIBE ([MQTT-3.8.4-3]), so a reconnect alone is no news. In a session that was
/// kept, one with the same bytes is the same message once more.
struct RetainedMessage {
    /// Digest of topic and payload; `nil` before the session's first retained message.
    private var digest: String?
    /// Whether the connection's first one is still to come. A later one is news: some broker marks live messages, too.
    private var isExpected = false
    /// Told the digest of another one, once that one is stored.
    private let changed: (String) -> Void

    init(digest: String? = nil, changed: @escaping (String) -> Void = { _ in }) {
        (self.digest, self.changed) = (digest, changed)
    }

    /// SUBSCRIBE follows.
    mutating func connectionBegan() { self.isExpected = true }

    /// Whether `message` is the same once more. One that the broker repeats since it was not acknowledged (DUP) is for the
    /// ``RedeliveryFilter``: nobody may have handled it yet.
    mutating func isRepeated(by message: MQTTSession.InboundMessage) -> Bool {
        guard self.isExpected, message.retain, !message.duplicate, !message.isUnreleased else { return false }
        self.isExpected = false
        guard let digest else { return false }
        return Self.digest(of: message) == digest
    }

    /// `message` is stored.
    mutating func stored(_ message: MQTTSession.InboundMessage) {
        guard message.retain else { return }
        let digest = Self.digest(of: message)
        guard digest != self.digest else { return }
        self.digest = digest
        self.changed(digest)
    }

    /// The broker may have a new session, whose first retained message is to be handled.
    mutating func sessionMayBeNew() { self.digest = nil }

    private static func digest(of message: MQTTSession.InboundMessage) -> String {
        SHA256.hexadecimal(Array("\(message.topic)\0\(message.truncatedLength ?? 0)\0".utf8) + message.payload)
    }
}
