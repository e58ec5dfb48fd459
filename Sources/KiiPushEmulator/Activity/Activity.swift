package import KiiPushCore

/// Something that happened at an emulator, for whoever looks.
package struct Activity: RecentEntry {
    package enum Event: Sendable {
        case request(AnsweredRequest)
        /// A client connected to the broker with an installation's endpoint, or its connection ended.
        case connection(InstallationConnection)
        /// A client ended its WebSocket, or did not get one.
        case webSocket(EndedWebSocket)
        /// A receiver on this machine told of a message.
        case delivery(MessageDelivery)
        /// A receiver on this machine told more than the emulator read in time.
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
    /// The method that was meant.
    package var method: String
    /// Path and query as sent; may hold secrets.
    var target: String
    /// Whether the emulator was told or asked something, and not the cloud.
    package var isControl: Bool
    /// Who asked, as `user:{userID}`; `nil` where that was not looked at, or refused.
    package var caller: String?
    /// `nil` where the connection was closed without an answer.
    package var status: Int?
    /// Kii's code of a refusal.
    package var errorCode: String?
    /// From the whole request to its answer.
    package var elapsed: Duration
    /// The beginning of the request's body; may hold secrets, as ``answer`` may.
    var body: [UInt8]
    /// The beginning of the answer's body.
    var answer: [UInt8]
    /// What it sent.
    package var messages: [SentMessage]
}

/// The facts that people know a message by. They go with each delivery, since the log may have dropped the message's request.
package struct MessageLabel: Sendable, Hashable {
    /// Its `pushMessageID`.
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

/// A message as it was sent.
package struct SentMessage: Sendable {
    private let message: LoggedMessage

    init(_ message: LoggedMessage) { self.message = message }

    package var label: MessageLabel { self.message.label }
    package var installationCount: Int { self.message.deliveries.values.reduce(0) { $0 + $1.count } }
    /// The IDs of the installations that it was for.
    package var installations: [String] { self.message.deliveries.values.flatMap { $0 }.sorted() }
}

/// What became of an installation's connection to the broker.
package struct InstallationConnection: Sendable {
    package var installationID: String
    /// Whose it is, as `user:{userID}`.
    package var owner: String
    package var isOnline = true
    package var transport = BrokerTransport.tcp
}

/// A WebSocket that a client ended, or did not get.
package struct EndedWebSocket: Sendable {
    package var transport: BrokerTransport
    /// What the client did, or was answered. Holds no credentials.
    package var reason: String
    /// Whether the client did something wrong.
    package var isFault: Bool
}

/// What became of a message at a receiver on this machine.
package struct MessageDelivery: Sendable {
    /// `nil` where it is not known which push the message was.
    package var push: MessageLabel?
    /// The receiver's name.
    package var receiver: String
    /// `nil` before a handler was called.
    package var installationID: String?
    package var event: MessageEvent
    /// Of an attempt that has ended: how long it took.
    package var elapsed: Duration?
}

/// What a receiver on this machine told that is not known.
package struct MissedEvents: Sendable {
    /// The receiver's name.
    package var receiver: String
    package var count: Int
}
