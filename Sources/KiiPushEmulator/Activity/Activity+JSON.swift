package import KiiPushCore

extension Activity {
    package var name: String {
        switch self.event {
        case .request: "request"
        case .connection: "connection"
        case .webSocket: "websocket"
        case .delivery: "delivery"
        case .missed: "missed"
        }
    }

    /// Whether only verbose output shows the entry: a request to `/__kii`, the normal end of a WebSocket, or a step of
    /// a message before its outcome.
    package var isDetail: Bool {
        switch self.event {
        case .request(let request): request.isControl
        case .connection, .missed: false
        case .webSocket(let ended): !ended.isFault
        case .delivery(let delivery): !delivery.event.isOutcome
        }
    }

    package func members(withBodies: Bool) -> JSONMembers {
        let head = JSONMembers(present: [
            "sequence": self.sequence, "at": self.at.description, "event": self.name,
        ])
        switch self.event {
        case .request(let request): return head + request.members(withBodies: withBodies)
        case .connection(let connection):
            return head + [
                ("installation", JSONValue(connection.installationID)), ("owner", JSONValue(connection.owner)),
                ("online", JSONValue(connection.isOnline)), ("transport", connection.transport.rawValue.json),
            ]
        case .webSocket(let ended):
            return head
                + JSONMembers(present: [
                    "transport": ended.transport.rawValue, "reason": ended.reason,
                    "fault": ended.isFault ? true : Bool?.none,
                ])
        case .delivery(let delivery): return head + delivery.members
        case .missed(let receiver, let count): return head + [("receiver", receiver.json), ("missed", count.json)]
        }
    }
}

extension AnsweredRequest {
    fileprivate func members(withBodies: Bool) -> JSONMembers {
        JSONMembers(present: [
            "method": self.method, "target": self.shownTarget, "control": self.isControl ? true : Bool?.none,
            "caller": self.caller, "status": self.status, "error_code": self.errorCode,
            "elapsed_ms": self.elapsed.wholeMilliseconds,
            "sent": self.messages.isEmpty ? JSONValue?.none : JSONValue(self.messages.map { $0.json }),
            "body": withBodies ? self.shownBody : JSONValue?.none,
            "answer": withBodies ? self.shownAnswer : JSONValue?.none,
        ])
    }
}

extension LoggedMessage {
    fileprivate var json: JSONValue {
        let installations = self.deliveries.values.flatMap { $0 }.sorted()
        return .object([("id", self.id.json)] + self.label.members + [("installations", installations.json)])
    }
}

extension MessageLabel {
    fileprivate var members: JSONMembers {
        [
            ("kind", self.kind.json), ("source", self.source.json), ("sent_at", self.sentAt.description.json),
        ]
    }
}

extension MessageDelivery {
    fileprivate var members: JSONMembers {
        [("message", self.push?.id.json ?? .null)]
            + JSONMembers(present: [
                "push": self.push.map { JSONValue.object($0.members) },
                "receiver": self.receiver, "installation": self.installationID, "id": self.event.messageID,
            ]) + self.event.members + JSONMembers(present: ["elapsed_ms": self.elapsed?.wholeMilliseconds])
    }
}

extension MessageEvent {
    var members: JSONMembers {
        let parts = self.kind.parts
        return JSONMembers(present: [
            "kind": self.kind.word, "attempt": parts.attempt, "pause_ms": parts.pause?.wholeMilliseconds,
            "detail": parts.detail,
        ])
    }

    package var isOutcome: Bool {
        switch self.kind {
        case .done, .failed, .dead, .unreached, .handedBack, .dismissed: true
        default: false
        }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { self.wholeNanoseconds / 1_000_000 }
}
