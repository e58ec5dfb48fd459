/// A change of the agent's state, such as a trouble, its end or a notice. Programs rely on its words.
package struct StateNote: Sendable {
    package let state: String
    /// `nil` at the end of a trouble.
    package let reason: String?
    package let retryIn: Duration?

    package init(_ state: String, _ reason: String? = nil, retryIn: Duration? = nil) {
        (self.state, self.reason, self.retryIn) = (state, reason, retryIn)
    }

    /// `nil` for ``PushEvent/stopping`` and for events about messages, registrations or successful steps.
    package init?(_ event: PushEvent) {
        switch event {
        case .disconnected(let reason, let retryIn): self.init("offline", reason, retryIn: retryIn)
        case .trouble(let kind, let reason): self.init("not \(kind.rawValue)", reason)
        case .recovered(let kind): self.init("\(kind.rawValue) again")
        case .notice(let kind, let reason, _): self.init(kind.rawValue, reason)
        case .inboxMovedAside(let path, let reason, let takenOver, let lost):
            let loss = lost.map { "\($0) lost" } ?? "an unknown number lost"
            self.init(
                "inbox damaged",
                "\(reason); what was left is kept as \(path)*; \(takenOver) messages taken over from it, \(loss)")
        case .adopted(let former, let messages):
            self.init(
                "adopted",
                "\(messages) \(messages == 1 ? "message" : "messages") of the former installation \(former)")
        case .subscriptionFailed(.topic(let topic), let reason, let retryIn):
            self.init("not subscribed", "\(topic.scope.text(of: topic.id)): \(reason)", retryIn: retryIn)
        case .subscriptionFailed(.bucket(let bucket), let reason, let retryIn):
            self.init("not subscribed", "bucket \(bucket.scope.text(of: bucket.id)): \(reason)", retryIn: retryIn)
        // Without a default, the compiler points to this switch when somebody adds an event.
        case .registered, .connecting, .connected, .subscribed, .message, .stopping: return nil
        }
    }

    package func members(at time: Timestamp) -> JSONMembers {
        JSONMembers(present: [
            "state": self.state, "at": time.description, "reason": self.reason,
            "retry_in_ms": self.retryIn?.milliseconds,
        ])
    }
}
