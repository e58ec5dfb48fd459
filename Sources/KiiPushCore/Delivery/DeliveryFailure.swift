/// The reason why one attempt to deliver a message failed.
public enum DeliveryFailure: Sendable, Hashable, CustomStringConvertible {
    /// The handler answered ``FetchResult/failed``.
    case failed
    /// The handler threw an error with this description, cut to 500 Unicode scalars.
    case threw(String)
    /// The handler released the completion without an answer.
    case unanswered
    /// The handler gave no answer in time (30 s).
    case timedOut

    /// A stable word, then the error if there is one.
    public var description: String {
        switch self {
        case .failed: "failed"
        case .threw(let error): "threw: \(error)"
        case .unanswered: "unanswered"
        case .timedOut: "timedOut"
        }
    }

    /// Reads a ``description``. Other text becomes ``threw(_:)``.
    package init(_ description: String) { self = Self(exactly: description) ?? .threw(description) }

    fileprivate init?(exactly description: String) {
        let plain = [Self.failed, .unanswered, .timedOut].first { $0.description == description }
        guard let failure = plain ?? description.suffix(after: "threw: ").map(Self.threw) else { return nil }
        self = failure
    }
}

/// The reason why delivery gave up on a message. An inbox in a file keeps the message, usually until a person retries
/// or drops it; an inbox in memory does not keep it.
public enum DeadLetterReason: Sendable, Hashable, CustomStringConvertible {
    /// Every attempt failed, the last one for this reason.
    case attemptsFailed(DeliveryFailure)
    /// The handler called ``FetchCompletion/reject(_:)``, with this reason.
    case rejected(String)
    /// The process ended while it handled only this message, and no attempt is left.
    case crashed
    /// The payload is no Kii message, for this reason.
    case undecodable(String)
    /// The message is a thing-if command, and the agent has no ``ThingCommandHandler``.
    case command
    /// The message came on a topic that does not belong to the installation.
    case unexpectedTopic
    /// The payload, of this length in bytes, exceeded the largest packet. The inbox keeps only its beginning.
    case oversized(originalLength: Int)
    /// Any other text: about a cut payload, about damage to the inbox file, or from a later version of the library.
    case other(String)

    /// A stable word, then the detail if there is one. For ``other(_:)`` only the text.
    public var description: String {
        switch self {
        case .attemptsFailed(let failure): failure.description
        case .rejected(let reason): "rejected: \(reason)"
        case .crashed: "crashed"
        case .undecodable(let reason): "undecodable: \(reason)"
        case .command: "command"
        case .unexpectedTopic: "unexpectedTopic"
        case .oversized(let length): "oversized: \(length) bytes"
        case .other(let text): text
        }
    }

    package init(_ description: String) {
        if let plain = [Self.crashed, .command, .unexpectedTopic].first(where: { $0.description == description }) {
            self = plain
        } else if let reason = description.suffix(after: "rejected: ") {
            self = .rejected(reason)
        } else if let reason = description.suffix(after: "undecodable: ") {
            self = .undecodable(reason)
        } else if let length = description.suffix(after: "oversized: ").flatMap({ Int($0.prefix { $0 != " " }) }),
            description == "oversized: \(length) bytes"
        {
            self = .oversized(originalLength: length)
        } else if let failure = DeliveryFailure(exactly: description) {
            self = .attemptsFailed(failure)
        } else {
            self = .other(description)
        }
    }
}

extension String {
    fileprivate func suffix(after prefix: String) -> String? {
        // Compares bytes: a combining mark after the prefix would change the prefix's last character.
        self.utf8.starts(with: prefix.utf8) ? String(Substring(self.utf8.dropFirst(prefix.utf8.count))) : nil
    }
}
