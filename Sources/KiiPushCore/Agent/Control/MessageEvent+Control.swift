/// The JSON form of a message's events on the control socket. The event of a handler call contains the message.
extension MessageEvent {
    var controlValue: JSONValue {
        let parts = self.kind.parts
        var members = JSONMembers(present: [
            "message": self.messageID, "at": self.at.millisecondsSinceEpoch, "kept": self.isKept, "kind": parts.code,
            "attempt": parts.attempt, "pause": parts.pause?.milliseconds, "detail": parts.detail,
        ])
        switch self.call {
        case .handler(let message, let context):
            // A handler receives JSON, which is UTF-8, so the text equals the payload byte for byte.
            members += JSONMembers(present: [
                "installation": context.installationID, "receivedAt": context.receivedAt.millisecondsSinceEpoch,
                "payload": String(decoding: message.payloadBytes, as: UTF8.self),
            ])
        case .omitted: members.append(("payload", JSONValue.null))
        case nil: break
        }
        return .object(members)
    }

    init?(controlValue value: JSONValue) {
        guard let id = value["message"]?.int64, let code = value["kind"]?.int64 else { return nil }
        let parts = Kind.Parts(
            code, attempt: value["attempt"]?.int64.map { Int(clamping: $0) },
            pause: value["pause"]?.int64.map { .milliseconds($0) }, detail: value["detail"]?.string)
        guard let kind = Kind(parts) else { return nil }
        let at = value["at"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) } ?? .now()
        self.init(messageID: id, at: at, kind: kind, isKept: value["kept"]?.bool ?? true)
        if value["payload"] == .null { self.call = .omitted }
        guard case .started(let attempt) = kind, let installationID = value["installation"]?.string,
            let receivedAt = value["receivedAt"]?.int64, let payload = value["payload"]?.string,
            let message = try? ReceivedMessage(payload: Array(payload.utf8))
        else { return }
        let context = DeliveryContext(
            installationID: installationID, messageID: id, receivedAt: Timestamp(millisecondsSinceEpoch: receivedAt),
            attempt: attempt)
        self.call = .handler(message, context)
    }
}
