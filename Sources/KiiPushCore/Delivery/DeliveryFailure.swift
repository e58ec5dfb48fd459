/// Why one attempt to deliver a message failed. It is tried again while attempts are left.
public enum DeliveryFailure: Sendable, Hashable, CustomStringConvertible {
    /// The handler answered ``FetchResult/failed``.
    case failed
    /// The handler threw this error (its description, cut to 500 Unicode scalars).
    case threw(String)
    /// The handler let go of the completion without an answer.
    case unanswered
    /// There was no answer in time (30 s).
    case timedOut

    /// A stable word, with the error after it if there is one.
    public var description: String {
        switch self {
        case .failed: "failed"
        case .threw(let error): "threw: \(error)"
        case .unanswered: "unanswered"
        case .timedOut: "timedOut"
        }
    }

    /// Of a text that is no failure's description: one that was thrown with it.
    package init(_ description: String) { self = Self(exactly: description) ?? .threw(description) }

    fileprivate init?(exactly description: String) {
        let plain = [Self.failed, .unanswered, .timedOut].first { $0.description == description }
        guard let failure = plain ?? description.suffix(after: "threw: ").map(Self.threw) else { return nil }
        self = failure
    }
}

/// Why a message was given up on. With the inbox in a file it is kept until a person has it tried again or drops it; in
/// memory nothing is kept.
public enum DeadLetterReason: Sendable, Hashable, CustomStringConvertible {
    /// Every attempt failed, the last one like this.
    case attemptsFailed(DeliveryFailure)
    /// The handler refused it with ``FetchCompletion/reject(_:)``, for this reason.
    case rejected(String)
    /// The process ended while the message ran alone, as often as it may be tried.
    case crashed
    /// The payload is no Kii message, for this reason.
    case undecodable(String)
    /// A thing-if command, and there is no ``ThingCommandHandler``.
    case command
    /// It came on a topic that is not the installation's.
    case unexpectedTopic
    /// It was larger than a packet may be; this many bytes long. Only its beginning is kept.
    case oversized(originalLength: Int)
    /// What else the inbox's file says: of a payload that was cut, of damage, or in the words of a later version.
    case other(String)

    /// A stable word, with the detail after it if there is one.
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
        // By bytes: what follows may begin with a mark that belongs to the character before.
        self.utf8.starts(with: prefix.utf8) ? String(Substring(self.utf8.dropFirst(prefix.utf8.count))) : nil
    }
}
