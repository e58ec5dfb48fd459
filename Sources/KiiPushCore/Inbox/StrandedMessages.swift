/// Messages that wait for an installation that nobody receives as, as after the agent registered anew and another user
/// signed in. `kii-push inbox adopt` has another installation handle them.
public struct StrandedMessages: Sendable, Hashable {
    /// The installation that received them.
    public let installationID: String
    /// How many there are.
    public let messages: Int
    /// The first and the last of their numbers.
    public let numbers: ClosedRange<Int64>
}
