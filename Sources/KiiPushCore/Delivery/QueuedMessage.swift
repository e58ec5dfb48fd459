/// What messages start in order by: an installation's topic, bucket, or sender of direct pushes. Its commands are one
/// source.
package struct SourceID: Sendable, Hashable {
    package var installation: Int64
    /// As ``SourceKey/number`` has it.
    package var number: Int64

    package init(installation: Int64, number: Int64) { (self.installation, self.number) = (installation, number) }
}

/// A message that some handler is meant for, decoded, on its way through delivery's memory.
///
/// Small: it is handed on several times, so what is large, or rare, stands elsewhere.
package struct QueuedMessage: Sendable {
    /// Why a message is delivered that is not new.
    final class Past: Sendable {
        let attempts: Int, crashes: Int
        let firstStart: MonotonicInstant?, answerBy: MonotonicInstant?
        let openedBy: UserAction?

        /// `nil` of a message that was not begun before.
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
    /// When an attempt is over at the latest, where another process counts that as well.
    package var answerBy: MonotonicInstant? { self.past?.answerBy }
    package var installation: Int64 { self.source.installation }

    /// Its time is limited by more than its attempt's beginning.
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

/// What decoding a message comes to.
package indirect enum DecodedContent: Sendable {
    case message(ReceivedMessage)
    case command(ThingCommand)
    /// No handler is to see it.
    case refused(DeadLetterReason)

    /// Whether somebody takes a command depends on the handler, so it is not refused here.
    ///
    /// - Parameter isUnexpectedTopic: of a message that comes from the network. A stored one whose topic was not expected
    ///   is a dead letter, and a person who has it tried again wants it handled.
    package init(payload: [UInt8], originalLength: Int?, isUnexpectedTopic: Bool = false) {
        // Checked first: what is cut off, or comes from elsewhere, may still look like a whole message.
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

    /// The number of its source; `nil` of a message that no handler is to see. Commands have one that no push has, but by a
    /// chance of 1 in 2^64.
    package var source: Int64? {
        switch self {
        case .message(let message): message.sourceKey.number
        case .command: 0
        case .refused: nil
        }
    }
}
