/// The JSON form of events on the control socket. The socket carries no events about registrations and subscriptions.
extension PushEvent {
    var controlValue: JSONValue? {
        switch self {
        case .message(let event): event.controlValue
        case .connecting(let host, let port, let usesTLS):
            .named("connecting", ["host": host, "port": port, "tls": usesTLS])
        case .connected(let connection): connection.controlValue
        case .disconnected(let reason, let retryIn):
            .named("disconnected", ["reason": reason, "retryIn": retryIn.milliseconds])
        case .trouble(let kind, let reason): .named("trouble", ["kind": kind.rawValue, "reason": reason])
        case .recovered(let kind): .named("recovered", ["kind": kind.rawValue])
        case .notice(let kind, let reason, let messages):
            .named("notice", ["kind": kind.rawValue, "reason": reason, "messages": messages])
        case .inboxMovedAside(let path, let reason, let takenOver, let lost):
            .named(
                "inboxMovedAside",
                ["path": path, "reason": reason, "takenOver": takenOver, "lost": lost?.json ?? JSONValue.null])
        case .adopted(let former, let messages): .named("adopted", ["from": former, "count": messages])
        case .stopping: .named("stopping")
        case .registered, .subscribed, .subscriptionFailed: nil
        }
    }

    /// `nil` for an event that only a later version of the library knows.
    init?(controlValue value: JSONValue) {
        if let event = MessageEvent(controlValue: value) {
            self = .message(event)
            return
        }
        let kind = value["kind"]?.string ?? ""
        let reason = value["reason"]?.string ?? ""
        func number(_ name: String) -> Int { Int(clamping: value[name]?.int64 ?? 0) }
        func duration(_ name: String) -> Duration { .milliseconds(value[name]?.int64 ?? 0) }
        switch value["name"]?.string {
        case "connecting":
            guard let host = value["host"]?.string, value["port"]?.int64 != nil else { return nil }
            self = .connecting(host: host, port: number("port"), usesTLS: value["tls"]?.bool ?? false)
        case "connected":
            guard let connection = Connection(controlValue: value) else { return nil }
            self = .connected(connection)
        case "disconnected": self = .disconnected(reason: reason, retryIn: duration("retryIn"))
        case "trouble":
            guard let kind = Trouble(rawValue: kind) else { return nil }
            self = .trouble(kind, reason: reason)
        case "recovered":
            guard let kind = Trouble(rawValue: kind) else { return nil }
            self = .recovered(kind)
        case "notice":
            guard let kind = Notice(rawValue: kind) else { return nil }
            self = .notice(kind, reason: reason, messages: value["messages"]?.int64.map { Int(clamping: $0) })
        case "inboxMovedAside":
            self = .inboxMovedAside(
                path: value["path"]?.string ?? "", reason: reason, takenOver: number("takenOver"),
                lost: value["lost"]?.int64.map { Int(clamping: $0) })
        case "adopted":
            self = .adopted(fromInstallation: value["from"]?.string ?? "", messages: number("count"))
        case "stopping": self = .stopping
        default: return nil
        }
    }

    var payloadLength: Int {
        if case .message(let event) = self, let message = event.message { message.payloadBytes.count } else { 0 }
    }

    var withoutPayload: PushEvent? {
        guard case .message(var event) = self, event.call != nil else { return nil }
        event.call = .omitted
        return .message(event)
    }
}

extension PushEvent.Connection {
    fileprivate var controlValue: JSONValue {
        .named(
            "connected",
            [
                "host": self.host, "port": self.port, "tls": self.usesTLS,
                "webSocket": self.usesWebSocket, "verified": self.isVerified,
                "protocol": self.protocolVersion, "qos": self.qualityOfService,
                "sessionPresent": self.sessionPresent,
            ])
    }

    fileprivate init?(controlValue value: JSONValue) {
        guard let host = value["host"]?.string, let port = value["port"]?.int64 else { return nil }
        self.init(
            host: host, port: Int(clamping: port), usesTLS: value["tls"]?.bool ?? false,
            usesWebSocket: value["webSocket"]?.bool ?? false,
            isVerified: value["verified"]?.bool ?? false, protocolVersion: value["protocol"]?.string ?? "",
            qualityOfService: value["qos"]?.int64 == 1 ? 1 : 0,
            sessionPresent: value["sessionPresent"]?.bool ?? false)
    }
}

extension JSONValue {
    fileprivate static func named(
        _ name: String, _ members: KeyValuePairs<String, (any JSONConvertible)?> = [:]
    ) -> JSONValue {
        .object([("name", JSONValue(name))] + JSONMembers(present: members))
    }
}
