/// A stored message that some handler is meant for.
///
/// By reference: it is handed on several times on its way, and what it holds is large and never changes.
package final class DecodedMessage: Deliverable {
    package enum Content: Sendable {
        case message(ReceivedMessage)
        case command(ThingCommand)
    }

    /// What messages start in order by: the source of a push; commands are one source.
    package enum Source: Sendable, Hashable {
        case push(SourceKey)
        case commands
    }

    package let sequence: Int64
    package let installation: Int64
    package let source: Source
    package let attempts: Int
    package let crashes: Int
    package let wasInHand: Bool
    package let pause: Duration?
    package let openedBy: UserAction?
    package let answerBy: MonotonicInstant?
    package let bytes: Int
    package let receivedAt: Timestamp
    package let content: Content

    package var isUserOpened: Bool { self.openedBy != nil }

    fileprivate init(_ stored: StoredMessage, _ content: Content) {
        self.sequence = stored.sequence
        self.installation = stored.installation
        switch content {
        case .message(let message): self.source = .push(message.sourceKey)
        case .command: self.source = .commands
        }
        self.attempts = stored.attempts
        self.crashes = stored.crashes
        self.wasInHand = stored.wasInHand
        self.pause = stored.pause
        self.openedBy = stored.openedBy
        self.answerBy = stored.answerBy
        self.bytes = stored.bytes
        self.receivedAt = stored.receivedAt
        self.content = content
    }
}

/// A message that no handler is to see.
package struct RefusedMessage: Sendable {
    package let stored: StoredMessage
    package let reason: DeadLetterReason
}

/// What decoding made of a batch: each message once, in one of the two lists, in order.
package struct DecodedBatch: Sendable {
    package private(set) var messages: [DecodedMessage] = []
    package private(set) var refused: [RefusedMessage] = []

    /// Decodes a batch; `takesCommands` says whether an installation's handler is a ``ThingCommandHandler``.
    init(_ batch: [StoredMessage], takesCommands: (Int64) -> Bool) {
        self.messages.reserveCapacity(batch.count)
        let batch = batch.span
        for index in batch.indices {
            let stored = batch[index]
            // Checked first: what is cut off, or comes from elsewhere, may still look like a whole message.
            if let length = stored.originalLength {
                self.refused.append(RefusedMessage(stored: stored, reason: .oversized(originalLength: length)))
            } else if stored.isUnexpectedTopic {
                self.refused.append(RefusedMessage(stored: stored, reason: .unexpectedTopic))
            } else {
                self.decode(stored, takesCommands: takesCommands)
            }
        }
    }

    private mutating func decode(_ stored: StoredMessage, takesCommands: (Int64) -> Bool) {
        do {
            self.messages.append(DecodedMessage(stored, .message(try ReceivedMessage(payload: stored.payload))))
        } catch .thingCommand(let command) {
            if takesCommands(stored.installation) {
                self.messages.append(DecodedMessage(stored, .command(command)))
            } else {
                self.refused.append(RefusedMessage(stored: stored, reason: .command))
            }
        } catch {
            self.refused.append(RefusedMessage(stored: stored, reason: .undecodable(error.description)))
        }
    }
}
