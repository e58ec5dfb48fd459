/// The number on the program's icon, as messages set it.
///
/// - Source: the older of Apple's pages; see ``NotificationContent/Badge``.
package struct BadgeCount: Sendable, Hashable {
    package private(set) var number: Int?
    package private(set) var receivedAt: Timestamp?
    package private(set) var messageID: Int64?

    /// Ignores a message that was applied before, or is older than the last applied message. Messages of different
    /// sources overtake each other, and a crash repeats a message.
    package mutating func apply(
        _ badge: NotificationContent.Badge, messageID: Int64, receivedAt: Timestamp, now: Timestamp
    ) {
        if let last = self.receivedAt, last <= now {
            guard (last, self.messageID ?? .min) < (receivedAt, messageID) else { return }
        }
        // If the last reception time is in the future, the clock was set back, and that time does not count.
        self.receivedAt = receivedAt
        self.messageID = messageID
        switch badge {
        case .remove: self.number = nil
        case .set(let number): self.set(number)
        }
    }

    package mutating func set(_ number: Int?) { self.number = number.flatMap { $0 > 0 ? $0 : nil } }
}
