/// JSON lines about events, for `kii-push listen --json` and for programs in other languages.
package enum EventLine {
    /// Returns a line without its newline: an object with `v`, `type` and the members that `write` adds.
    package static func bytes(_ type: String, _ write: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        JSONObjectWriter.bytes { line in
            line.add("v", Int64(1))
            line.add("type", type)
            write(&line)
        }
    }
}

extension PushEvent {
    /// `nil` for an event that has no line, such as ``PushEvent/subscribed(_:)``. `time` is when a reported state
    /// began.
    package func line(of installationID: String?, at time: Timestamp = .now()) -> [UInt8]? {
        switch self {
        case .message(let event):
            return MessageVerdict(event).map { verdict in
                EventLine.bytes("verdict") { $0.add(verdict.members(of: event.messageID, at: event.at)) }
            }
        case .connected(let connection):
            return EventLine.bytes("state") { $0.add(connection.members(of: installationID, at: time)) }
        default:
            return StateNote(self).map { note in EventLine.bytes("state") { $0.add(note.members(at: time)) } }
        }
    }
}

extension PushEvent.Connection {
    package var url: String {
        let scheme = self.usesWebSocket ? (self.usesTLS ? "wss" : "ws") : (self.usesTLS ? "mqtts" : "mqtt")
        return "\(scheme)://\(self.host):\(self.port)"
    }

    package func members(of installationID: String?, at time: Timestamp) -> JSONMembers {
        JSONMembers(present: [
            "state": "connected", "at": time.description, "installation": installationID, "url": self.url,
            "protocol": "MQTT \(self.protocolVersion)", "qos": self.qualityOfService,
            "session_present": self.sessionPresent, "verified": self.isVerified,
        ])
    }
}
