/// That the user opened what showed a message.
package struct DeliveryOpening: Sendable, Hashable {
    /// A store that has kept it needs its numbers and the choice alone; one that has let go of it takes it from here.
    package var message: StoredMessage
    package var action: UserAction
    /// Whether the store was told before, while the message was in hand: the record says so already.
    package var isRecorded = false

    package init(_ message: StoredMessage, action: UserAction) {
        self.message = message
        self.message.openedBy = action
        self.message.attempts = 0
        self.message.crashes = 0
        self.action = action
    }
}
