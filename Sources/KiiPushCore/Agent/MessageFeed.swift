/// Another process that receives an agent's messages from the broker, stores them, and passes them to the agent.
///
/// The agent calls its handler in the same way as without a feed. The other process presents alerts and
/// retries failed attempts. `KiiPushActivation` has a feed for programs that a push starts.
public struct MessageFeed: Sendable {
    /// The environment variable with the number of a socket's descriptor, for a program that a push starts.
    package static let launchVariable = "KII_PUSH_LAUNCH_FD"
    package static let isUnclaimed = Locked(false)

    /// The feed's number for the program's icon, 0 for none; `nil` if the agent keeps its own number.
    package var badge: Int?
    /// Sets the feed's number, 0 for none. Called on any thread; must not block.
    package var setBadge: @Sendable (Int) -> Void
    package var deliver: @Sendable (PushAgent) async throws -> Void

    package init(
        badge: Int? = nil, setBadge: @escaping @Sendable (Int) -> Void = { _ in },
        deliver: @escaping @Sendable (PushAgent) async throws -> Void
    ) {
        self.badge = badge
        self.setBadge = setBadge
        self.deliver = deliver
    }
}
