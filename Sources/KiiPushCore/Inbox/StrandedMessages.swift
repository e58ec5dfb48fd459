/// Messages that wait for an installation that nobody receives as, as after the agent registered anew and another user
/// signed in. `kii-push inbox adopt` has another installation handle them.
package struct StrandedMessages: Sendable, Hashable {
    package let installationID: String
    /// How many there are.
    package let messages: Int
    /// The first and the last of their numbers.
    package let numbers: ClosedRange<Int64>
}
