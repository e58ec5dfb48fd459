/// Recognises the topic's retained message when the broker sends it again.
///
/// A broker sends the retained message after every SUBSCRIBE ([MQTT-3.8.4-3]). Within one session, a retained message
/// with the same bytes counts as the same message.
struct RetainedMessage {
    struct Note: Sendable, Hashable {
        var digest: String
        var stored: Int64
        var lost: Int64

        fileprivate func holds(in ledger: MessageLedger) -> Bool {
            ledger.received - ledger.duplicates >= self.stored && ledger.lost == self.lost
        }
    }

    private var note: Note?
    /// Whether the connection's first retained message is still to come. A later retained message is new: some brokers
    /// also mark live messages as retained.
    private var isExpected = false
    private let ledger: () -> MessageLedger
    /// Called with the note of a newly stored message, or with `nil` if the inbox may have lost the noted message.
    private let changed: (Note?) -> Void

    init(
        note: Note? = nil, ledger: @escaping () -> MessageLedger = { MessageLedger() },
        changed: @escaping (Note?) -> Void = { _ in }
    ) {
        (self.note, self.ledger, self.changed) = (note, ledger, changed)
        self.forgetIfGone()
    }

    mutating func connectionBegan() { self.isExpected = true }

    /// Whether `message` is the stored retained message again. A message with DUP does not count: perhaps no handler
    /// has finished it.
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

    /// Forgets the note, because the agent must handle the first retained message of a new session.
    mutating func sessionMayBeNew() { self.note = nil }

    /// Forgets the note if somebody removed or replaced the inbox, because the noted message may be lost.
    private mutating func forgetIfGone() {
        guard let note, !note.holds(in: self.ledger()) else { return }
        self.note = nil
        self.changed(nil)
    }

    private static func digest(of message: MQTTSession.InboundMessage) -> String {
        SHA256.hexadecimal(Array("\(message.topic)\0\(message.truncatedLength ?? 0)\0".utf8) + message.payload)
    }
}
