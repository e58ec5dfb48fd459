package import KiiPushCore

/// Something that happened at an emulator, as the terminal and the page show it.
package struct Activity: RecentEntry {
    package enum Event: Sendable {
        case request(AnsweredRequest)
        /// A client with an installation's endpoint connected to the broker, or disconnected.
        case connection(InstallationConnection)
        /// A client ended its WebSocket, or its request for one was refused.
        case webSocket(EndedWebSocket)
        /// A receiver on this machine reported an event of a message.
        case delivery(MessageDelivery)
        /// The emulator missed events of a receiver on this machine, or does not know their kind.
        case missed(MissedEvents)
    }

    /// Counts from 1 at each start of the emulator.
    package var sequence: Int64 = 0
    package let at: Timestamp
    package let event: Event

    var bytes: Int {
        switch self.event {
        case .request(let request):
            let sent = request.messages.reduce(0) { $0 + 256 + 64 * $1.installationCount }
            return 512 + request.target.utf8.count + request.body.count + request.answer.count + sent
        case .connection, .missed, .webSocket: return 256
        case .delivery: return 512
        }
    }
}

/// A request and its answer.
package struct AnsweredRequest: Sendable {
    /// The method, after `X-HTTP-Method-Override`.
    package var method: String
    /// Path and query as sent; may hold secrets.
    var target: String
    /// Whether the request went to the emulator's own controls below `/__kii`, not to the cloud.
    package var isControl: Bool
    /// The caller, as `user:{userID}`; `nil` if the request was not authenticated.
    package var caller: String?
    /// `nil` if the emulator closed the connection without an answer.
    package var status: Int?
    /// Kii's error code, for a refusal.
    package var errorCode: String?
    /// Time from the complete request to its answer.
    package var elapsed: Duration
    /// The beginning of the request's body; may hold secrets, as ``answer`` may.
    var body: [UInt8]
    /// The beginning of the answer's body; may hold secrets.
    var answer: [UInt8]
    /// The messages that the request sent.
    package var messages: [SentMessage]
}

/// A person recognizes a message by these facts. Each delivery carries a copy, since the log may have dropped the
/// message's request.
package struct MessageLabel: Sendable, Hashable {
    /// The `pushMessageID`.
    package let id: String
    package let kind: String
    /// The topic, bucket or user as a `kiicloud:` URI.
    package let source: String
    package let sentAt: Timestamp

    package init(id: String, kind: String, source: String, sentAt: Timestamp) {
        (self.id, self.kind, self.source, self.sentAt) = (id, kind, source, sentAt)
    }
}

extension LoggedMessage {
    var label: MessageLabel {
        MessageLabel(
            id: self.id, kind: self.kind.rawValue, source: "kiicloud://\(self.sourcePath)", sentAt: self.sentAt)
    }
}

/// A message from the log, with its installations.
package struct SentMessage: Sendable {
    private let message: LoggedMessage

    init(_ message: LoggedMessage) { self.message = message }

    package var label: MessageLabel { self.message.label }
    package var installationCount: Int { self.message.deliveries.values.reduce(0) { $0 + $1.count } }
    /// The IDs of the installations to which the message went.
    package var installations: [String] { self.message.deliveries.values.flatMap { $0 }.sorted() }
}

/// An installation that came online at the broker, or went offline.
package struct InstallationConnection: Sendable {
    package var installationID: String
    /// The installation's owner, as `user:{userID}`.
    package var owner: String
    package var isOnline = true
    package var transport = BrokerTransport.tcp
}

/// A WebSocket that a client ended, or a refused request for one.
package struct EndedWebSocket: Sendable {
    package var transport: BrokerTransport
    /// The reason for the end or the refusal. Holds no credentials.
    package var reason: String
    /// Whether the client caused it by an error.
    package var isFault: Bool
}

/// An event of a message at a receiver on this machine.
package struct MessageDelivery: Sendable {
    /// `nil` if the emulator cannot tell which push the message was.
    package var push: MessageLabel?
    package var receiver: String
    /// `nil` before a handler was called.
    package var installationID: String?
    package var event: MessageEvent
    /// The duration of the attempt, if the event ends one.
    package var elapsed: Duration?
}

/// Events of a receiver on this machine that the emulator missed, or whose kind it does not know.
package struct MissedEvents: Sendable {
    package var receiver: String
    package var count: Int
}
