/// The topic's retained message, as the broker last brought it.
///
/// A broker brings it anew after every SUBSCRIBE ([MQTT-3.8.4-3]), so a reconnect alone is no news. Within one session,
/// a retained message with the same bytes is the same message again.
struct RetainedMessage {
    /// The digest that identifies it, and the counts of the inbox when it was stored there.
    struct Note: Sendable, Hashable {
        /// A digest of topic and payload.
        var digest: String
        var stored: Int64
        var lost: Int64

        /// Whether an inbox with these counts has lost no message since: it is the same inbox, or has taken over the
        /// messages of the former one.
        fileprivate func holds(in ledger: MessageLedger) -> Bool {
            ledger.received - ledger.duplicates >= self.stored && ledger.lost == self.lost
        }
    }

    /// `nil` before the session's first retained message.
    private var note: Note?
    /// Whether the connection's first retained message is still to come. A later one is news: some broker marks live
    /// messages, too.
    private var isExpected = false
    private let ledger: () -> MessageLedger
    /// Called with the note of another message once that is stored, or with `nil` when the former one's record may be
    /// gone.
    private let changed: (Note?) -> Void

    init(
        note: Note? = nil, ledger: @escaping () -> MessageLedger = { MessageLedger() },
        changed: @escaping (Note?) -> Void = { _ in }
    ) {
        (self.note, self.ledger, self.changed) = (note, ledger, changed)
        self.forgetIfGone()
    }

    mutating func connectionBegan() { self.isExpected = true }

    /// Whether `message` is the same message again. A redelivery of an unacknowledged message (DUP) is for the
    /// ``RedeliveryFilter``: perhaps nobody has handled it yet.
    mutating func isRepeated(by message: MQTTSession.InboundMessage) -> Bool {
        guard self.isExpected, message.retain, !message.duplicate, !message.isUnreleased else { return false }
        self.isExpected = false
        self.forgetIfGone()
        return Self.digest(of: message) == self.note?.digest
    }

    mutating func stored(_ message: MQTTSession.InboundMessage) {
        guard message.retain else { return }
        let digest = Self.digest(of: message)
        guard digest != self.note?.digest else { return }
        let ledger = self.ledger()
        let note = Note(digest: digest, stored: ledger.received - ledger.duplicates, lost: ledger.lost)
        self.note = note
        self.changed(note)
    }

    /// Notes that the broker may have a new session, whose first retained message the agent must handle.
    mutating func sessionMayBeNew() { self.note = nil }

    /// Forgets the note if a damaged inbox was replaced, or somebody removed it: the message itself may be gone
    /// unhandled.
    private mutating func forgetIfGone() {
        guard let note, !note.holds(in: self.ledger()) else { return }
        self.note = nil
        self.changed(nil)
    }

    private static func digest(of message: MQTTSession.InboundMessage) -> String {
        SHA256.hexadecimal(Array("\(message.topic)\0\(message.truncatedLength ?? 0)\0".utf8) + message.payload)
    }
}
