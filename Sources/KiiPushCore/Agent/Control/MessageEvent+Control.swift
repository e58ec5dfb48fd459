/// A message's events on their way over the control socket: its number and what happened, never what it says.
extension MessageEvent {
    var controlValue: JSONValue {
        let parts = self.kind.parts
        var members: [(String, JSONValue)] = [
            ("message", JSONValue(self.messageID)), ("at", JSONValue(self.at.millisecondsSinceEpoch)),
            ("kept", JSONValue(self.isKept)), ("kind", JSONValue(parts.code)),
        ]
        if let attempt = parts.attempt { members.append(("attempt", JSONValue(attempt))) }
        if let pause = parts.pause { members.append(("pause", pause.controlValue)) }
        if let detail = parts.detail { members.append(("detail", JSONValue(detail))) }
        return .object(members)
    }

    /// `nil` for what is no message's event, or one of a later version.
    init?(controlValue value: JSONValue) {
        guard let id = value["message"]?.int64, let code = value["kind"]?.int64 else { return nil }
        let parts = Kind.Parts(
            code, attempt: value["attempt"]?.int64.map { Int(clamping: $0) },
            pause: value["pause"]?.int64.map { .milliseconds($0) }, detail: value["detail"]?.string)
        guard let kind = Kind(parts) else { return nil }
        let at = value["at"]?.int64.map { Timestamp(millisecondsSinceEpoch: $0) } ?? .now()
        self.init(messageID: id, at: at, kind: kind, isKept: value["kept"]?.bool ?? true)
    }
}
