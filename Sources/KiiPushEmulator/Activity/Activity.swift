package import KiiPushCore

package struct Activity: RecentEntry {
    package enum Event: Sendable {
        case request(AnsweredRequest)
        case connection(InstallationConnection)
        case webSocket(EndedWebSocket)
        case delivery(MessageDelivery)
        /// Events that one receiver sent and the emulator missed, or whose kind the emulator does not know.
        case missed(receiver: String, count: Int)
    }

    /// The entry's number, counted from 1 since the emulator's start.
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

package struct AnsweredRequest: Sendable {
    /// The method, after `X-HTTP-Method-Override` has been applied.
    package var method: String
    /// The path and query as sent. They may contain secrets.
    var target: String
    /// Whether the path is below `/__kii`, the emulator's own controls.
    package var isControl: Bool
    /// `user:{userID}`, `thing:{thingID}`, `admin` or `anonymous`; `nil` if the request was not authenticated.
    package var caller: String?
    /// `nil` if the emulator closed the connection without an answer.
    package var status: Int?
    package var errorCode: String?
    package var elapsed: Duration
    /// The beginning of the request's body; may contain secrets.
    var body: [UInt8]
    /// The beginning of the answer's body; may contain secrets.
    var answer: [UInt8]
    package var messages: [LoggedMessage]
}

package struct MessageLabel: Sendable, Hashable {
    /// The `pushMessageID`.
    package let id: String
    package let kind: String
    /// The topic, bucket, object, user or thing as a `kiicloud:` URI.
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

    package var installationCount: Int { self.deliveries.values.reduce(0) { $0 + $1.count } }
}

package struct InstallationConnection: Sendable {
    package var installationID: String
    /// The installation's owner, as `user:{userID}` or `thing:{thingID}`.
    package var owner: String
    package var isOnline = true
    package var transport = BrokerTransport.tcp
}

/// A WebSocket that its client ended, or a failed attempt to open a WebSocket.
package struct EndedWebSocket: Sendable {
    package var transport: BrokerTransport
    package var reason: String
    package var isFault: Bool
}

package struct MessageDelivery: Sendable {
    /// The push that the message belongs to; `nil` if unknown.
    package var push: MessageLabel?
    package var receiver: String
    /// `nil` until a handler is called.
    package var installationID: String?
    package var event: MessageEvent
    package var elapsed: Duration?
}
