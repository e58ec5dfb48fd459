import KiiPushCore

extension MessageRecord {
    /// Why the message was given up on, in words; empty of one that was not.
    package var reason: String { if case .dead(let reason) = self.state { reason.description } else { "" } }
}
