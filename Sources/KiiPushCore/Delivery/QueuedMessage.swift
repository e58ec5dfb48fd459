/// A source, within which messages start in order: an installation's topic, bucket, or sender of direct pushes. All
/// commands of an installation are one source.
package struct SourceID: Sendable, Hashable {
    package var installation: Int64
    /// The value of ``SourceKey/number``; 0 for commands.
    package var number: Int64

    package init(installation: Int64, number: Int64) { (self.installation, self.number) = (installation, number) }
}

/// Large and rare fields are behind references, since delivery copies a message several times.
package struct QueuedMessage: Sendable {
    final class Past: Sendable {
        let attempts: Int, crashes: Int
        let firstStart: MonotonicInstant?, answerBy: MonotonicInstant?
        let openedBy: UserAction?

        init?(_ stored: StoredMessage) {
            guard
                stored.attempts > 0 || stored.crashes > 0 || stored.firstStart != nil || stored.openedBy != nil
                    || stored.answerBy != nil
            else { return nil }
            (self.attempts, self.crashes) = (stored.attempts, stored.crashes)
            (self.firstStart, self.answerBy) = (stored.firstStart, stored.answerBy)
            self.openedBy = stored.openedBy
        }
    }

    package let sequence: Int64
    package let source: SourceID
    /// Never ``DecodedContent/refused(_:)``.
    package let content: DecodedContent
    package let bytes: Int
    package let receivedAt: Timestamp
    private(set) var past: Past?

    package var attempts: Int { self.past?.attempts ?? 0 }
    package var crashes: Int { self.past?.crashes ?? 0 }
    package var firstStart: MonotonicInstant? { self.past?.firstStart }
    package var openedBy: UserAction? { self.past?.openedBy }
    package var answerBy: MonotonicInstant? { self.past?.answerBy }
    package var installation: Int64 { self.source.installation }

    /// Whether the deadline depends on more than the start of the attempt.
    var hasOwnLimit: Bool { self.answerBy != nil || self.firstStart != nil }

    package var isCommand: Bool { if case .command = self.content { true } else { false } }
}

extension QueuedMessage {
    package init(_ stored: StoredMessage, _ content: DecodedContent) {
        self.init(
            sequence: stored.sequence,
            source: SourceID(installation: stored.installation, number: stored.source ?? content.source ?? 0),
            content: content, bytes: stored.bytes, receivedAt: stored.receivedAt, past: Past(stored))
    }
}

package indirect enum DecodedContent: Sendable {
    case message(ReceivedMessage)
    case command(ThingCommand)
    case refused(DeadLetterReason)

    /// A person who retries a message on an unexpected topic wants it handled. So `isUnexpectedTopic` is only for
    /// messages from the network.
    package init(payload: [UInt8], originalLength: Int?, isUnexpectedTopic: Bool = false) {
        // These checks come first: such a payload, cut or from another topic, may look like a whole message.
        if let originalLength {
            self = .refused(.oversized(originalLength: originalLength))
        } else if isUnexpectedTopic {
            self = .refused(.unexpectedTopic)
        } else {
            do {
                self = .message(try ReceivedMessage(payload: payload))
            } catch .thingCommand(let command) {
                self = .command(command)
            } catch {
                self = .refused(.undecodable(error.description))
            }
        }
    }

    package init(_ stored: StoredMessage) {
        self.init(payload: stored.payload, originalLength: stored.originalLength)
    }

    /// `nil` if no handler may see the message.
    package var source: Int64? {
        switch self {
        case .message(let message): message.sourceKey.number
        case .command: 0
        case .refused: nil
        }
    }
}
