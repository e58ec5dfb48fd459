/// Events on their way over the control socket. What only matters to the process itself is not told.
extension PushEvent {
    var controlValue: JSONValue? {
        switch self {
        case .message(let event): event.controlValue
        case .registered(let registration):
            Self.named("registered", ("installation", JSONValue(registration.installationID)))
        case .connecting(let host, let port, let usesTLS):
            Self.named(
                "connecting", ("host", JSONValue(host)), ("port", JSONValue(port)), ("tls", JSONValue(usesTLS)))
        case .connected(let connection): connection.controlValue
        case .disconnected(let reason, let retryIn):
            Self.named("disconnected", ("reason", JSONValue(reason)), ("retryIn", retryIn.controlValue))
        case .sessionLost: Self.named("sessionLost")
        case .takenOver(let takeover):
            Self.named(
                "takenOver", ("closures", JSONValue(takeover.closures)), ("within", takeover.within.controlValue))
        case .storageFailed(let reason): Self.named("storageFailed", ("reason", JSONValue(reason)))
        case .storageRecovered: Self.named("storageRecovered")
        case .historyCut(let messages): Self.named("historyCut", ("messages", JSONValue(messages)))
        case .receptionPaused(let reason): Self.named("receptionPaused", ("reason", JSONValue(reason)))
        case .receptionResumed: Self.named("receptionResumed")
        case .deadLettersRemoved(let count): Self.named("deadLettersRemoved", ("count", JSONValue(count)))
        case .stateNotSaved(let reason): Self.named("stateNotSaved", ("reason", JSONValue(reason)))
        case .stateSaved: Self.named("stateSaved")
        case .inboxMovedAside(let path, let reason, let takenOver, let lost):
            Self.named(
                "inboxMovedAside", ("path", JSONValue(path)), ("reason", JSONValue(reason)),
                ("takenOver", JSONValue(takenOver)), ("lost", lost.map { JSONValue($0) } ?? .null))
        case .adopted(let former, let messages):
            Self.named("adopted", ("from", JSONValue(former)), ("count", JSONValue(messages)))
        case .readingFailed(let reason): Self.named("readingFailed", ("reason", JSONValue(reason)))
        case .readingRecovered: Self.named("readingRecovered")
        case .deliveryStalled(let reason): Self.named("deliveryStalled", ("reason", JSONValue(reason)))
        case .deliveryRecovered: Self.named("deliveryRecovered")
        case .inboxInMemory(let reason): Self.named("inboxInMemory", ("reason", JSONValue(reason)))
        case .stopping: Self.named("stopping")
        case .subscribed, .subscriptionFailed, .controlSocketFailed: nil
        }
    }

    /// `nil` for an event of a later version.
    init?(controlValue value: JSONValue) {
        if let event = MessageEvent(controlValue: value) {
            self = .message(event)
            return
        }
        let reason = value["reason"]?.string ?? ""
        switch value["name"]?.string {
        case "connecting":
            guard let host = value["host"]?.string, let port = value["port"]?.int64 else { return nil }
            self = .connecting(host: host, port: Int(clamping: port), usesTLS: value["tls"]?.bool ?? false)
        case "connected":
            guard let connection = Connection(controlValue: value) else { return nil }
            self = .connected(connection)
        case "disconnected": self = .disconnected(reason: reason, retryIn: .milliseconds(value["retryIn"]?.int64 ?? 0))
        case "sessionLost": self = .sessionLost
        case "takenOver":
            let closures = Int(clamping: value["closures"]?.int64 ?? 0)
            self = .takenOver(Takeover(closures: closures, within: .milliseconds(value["within"]?.int64 ?? 0)))
        case "storageFailed": self = .storageFailed(reason: reason)
        case "storageRecovered": self = .storageRecovered
        case "historyCut": self = .historyCut(messages: Int(clamping: value["messages"]?.int64 ?? 0))
        case "receptionPaused": self = .receptionPaused(reason: reason)
        case "receptionResumed": self = .receptionResumed
        case "deadLettersRemoved": self = .deadLettersRemoved(count: Int(clamping: value["count"]?.int64 ?? 0))
        case "stateNotSaved": self = .stateNotSaved(reason: reason)
        case "stateSaved": self = .stateSaved
        case "inboxMovedAside":
            self = .inboxMovedAside(
                path: value["path"]?.string ?? "", reason: reason,
                takenOver: Int(clamping: value["takenOver"]?.int64 ?? 0),
                lost: value["lost"]?.int64.map { Int(clamping: $0) })
        case "adopted":
            self = .adopted(
                fromInstallation: value["from"]?.string ?? "", messages: Int(clamping: value["count"]?.int64 ?? 0))
        case "readingFailed": self = .readingFailed(reason: reason)
        case "readingRecovered": self = .readingRecovered
        case "deliveryStalled": self = .deliveryStalled(reason: reason)
        case "deliveryRecovered": self = .deliveryRecovered
        case "inboxInMemory": self = .inboxInMemory(reason: reason)
        case "stopping": self = .stopping
        default: return nil
        }
    }

    private static func named(_ name: String, _ members: (String, JSONValue)...) -> JSONValue {
        .object([("name", JSONValue(name))] + members)
    }
}

extension PushEvent.Connection {
    fileprivate var controlValue: JSONValue {
        .object([
            ("name", "connected"), ("host", JSONValue(self.host)), ("port", JSONValue(self.port)),
            ("tls", JSONValue(self.usesTLS)), ("verified", JSONValue(self.isVerified)),
            ("protocol", JSONValue(self.protocolVersion)), ("qos", self.guarantee == .atLeastOnce ? 1 : 0),
            ("sessionPresent", JSONValue(self.sessionPresent)),
        ])
    }

    fileprivate init?(controlValue value: JSONValue) {
        guard let host = value["host"]?.string, let port = value["port"]?.int64 else { return nil }
        self.init(
            host: host, port: Int(clamping: port), usesTLS: value["tls"]?.bool ?? false,
            isVerified: value["verified"]?.bool ?? false, protocolVersion: value["protocol"]?.string ?? "",
            guarantee: value["qos"]?.int64 == 1 ? .atLeastOnce : .atMostOnce,
            sessionPresent: value["sessionPresent"]?.bool ?? false)
    }
}

extension Duration {
    /// In milliseconds.
    var controlValue: JSONValue { JSONValue(self.wholeNanoseconds / 1_000_000) }
}

extension PushEvent {
    /// How many bytes of a message go with it.
    var payloadLength: Int {
        if case .message(let event) = self, case .handler(let message, _)? = event.call {
            message.payloadBytes.count
        } else {
            0
        }
    }

    /// `nil` where no payload goes with it.
    var withoutPayload: PushEvent? {
        guard case .message(var event) = self, event.call != nil else { return nil }
        event.call = nil
        return .message(event)
    }
}
