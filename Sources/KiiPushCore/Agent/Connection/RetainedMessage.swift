/// The last message that a broker brought as the topic's retained one.
///
/// A broker brings it anew after every SUBSCRIBE ([MQTT-3.8.4-3]), so a reconnect alone is no news. In a session that was
/// kept, one with the same bytes is the same message once more.
struct RetainedMessage {
    /// The digest it is known by again, and the counts of the inbox when it was stored there.
    struct Note: Sendable, Hashable {
        /// A digest of topic and payload.
        var digest: String
        var stored: Int64
        var lost: Int64

        /// Whether an inbox that has counted this has lost no message since, so that it is the same one, or has taken over
        /// what the former one held.
        fileprivate func holds(in ledger: MessageLedger) -> Bool {
            ledger.received - ledger.duplicates >= self.stored && ledger.lost == self.lost
        }
    }

    /// `nil` before the session's first retained message.
    private var note: Note?
    /// Whether the connection's first one is still to come. A later one is news: some broker marks live messages, too.
    private var isExpected = false
    /// Tells what the inbox has counted by now.
    private let ledger: () -> MessageLedger
    /// Told the note of another one, once that one is stored; `nil` when the record of the former one may be gone.
    private let changed: (Note?) -> Void

    init(
        note: Note? = nil, ledger: @escaping () -> MessageLedger = { MessageLedger() },
        changed: @escaping (Note?) -> Void = { _ in }
    ) {
        (self.note, self.ledger, self.changed) = (note, ledger, changed)
        self.forgetIfGone()
    }

    /// SUBSCRIBE follows.
    mutating func connectionBegan() { self.isExpected = true }

    /// Whether `message` is the same once more. One that the broker repeats since it was not acknowledged (DUP) is for the
    /// ``RedeliveryFilter``: nobody may have handled it yet.
    mutating func isRepeated(by message: MQTTSession.InboundMessage) -> Bool {
        guard self.isExpected, message.retain, !message.duplicate, !message.isUnreleased else { return false }
        self.isExpected = false
        self.forgetIfGone()
        return Self.digest(of: message) == self.note?.digest
    }

    /// `message` is stored.
    mutating func stored(_ message: MQTTSession.InboundMessage) {
        guard message.retain else { return }
        let digest = Self.digest(of: message)
        guard digest != self.note?.digest else { return }
        let ledger = self.ledger()
        let note = Note(digest: digest, stored: ledger.received - ledger.duplicates, lost: ledger.lost)
        self.note = note
        self.changed(note)
    }

    /// The broker may have a new session, whose first retained message is to be handled.
    mutating func sessionMayBeNew() { self.note = nil }

    /// A damaged inbox was replaced, or somebody removed it: with its record the message itself may be gone unhandled.
    private mutating func forgetIfGone() {
        guard let note, !note.holds(in: self.ledger()) else { return }
        self.note = nil
        self.changed(nil)
    }

    private static func digest(of message: MQTTSession.InboundMessage) -> String {
        SHA256.hexadecimal(Array("\(message.topic)\0\(message.truncatedLength ?? 0)\0".utf8) + message.payload)
    }
}
