/// What a message weighs in delivery's memory, of which there is as much as for so many messages of the usual size: 1,
/// and more if it is large. So one number bounds both how many messages are in memory and how many bytes.
package struct DeliveryScale: Sendable, Hashable {
    /// From every so many bytes on a message weighs 1 more.
    package let step: Int
    /// No message weighs more, or it might never find room.
    package let heaviest: Int

    package static let uniform = DeliveryScale(messages: 1, bytes: .max)

    /// Room for `messages`, and for no more than `bytes`.
    init(messages: Int, bytes: Int) {
        self.step = max(1, bytes / max(1, messages))
        self.heaviest = max(1, messages / 4)
    }

    package func weight(of bytes: Int) -> Int { bytes < self.step ? 1 : min(1 + bytes / self.step, self.heaviest) }
}
