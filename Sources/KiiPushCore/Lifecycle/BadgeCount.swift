/// The number on the program's icon, as messages set it.
///
/// - Source: the older of Apple's pages; see ``NotificationContent/Badge``.
package struct BadgeCount: Sendable, Hashable {
    /// The number in view; `nil` when there is none. Never zero or less.
    package private(set) var number: Int?
    /// When the message was received that has set it last, and its number in the inbox.
    package private(set) var receivedAt: Timestamp?
    package private(set) var messageID: Int64?

    /// Takes the badge of a message, unless it has done so, or a later one has set it: messages of different sources overtake
    /// each other, and one comes again after a crash.
    package mutating func apply(
        _ badge: NotificationContent.Badge, messageID: Int64, receivedAt: Timestamp, now: Timestamp
    ) {
        if let last = self.receivedAt, last <= now {
            guard (last, self.messageID ?? .min) < (receivedAt, messageID) else { return }
        }
        // What lies in the future was noted before the calendar was set back, and says nothing.
        self.receivedAt = receivedAt
        self.messageID = messageID
        switch badge {
        case .remove: self.number = nil
        case .set(let number): self.set(number)
        }
    }

    package mutating func set(_ number: Int?) { self.number = number.flatMap { $0 > 0 ? $0 : nil } }
}
