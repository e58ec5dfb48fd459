/// A process that keeps an agent's messages and hands them to it, in place of the broker.
///
/// `KiiPushActivation` has a feed for programs that a push starts. The agent calls its handler by the usual rules, and
/// presents nothing: the feed's process presents alerts, and retries failed attempts.
public struct MessageFeed: Sendable {
    /// The environment variable in which a program names its socket to the one that it starts for a push.
    package static let launchVariable = "KII_PUSH_LAUNCH_FD"
    /// Whether this process has read its first message over that socket, and no agent has asked for the feed.
    package static let isUnclaimed = Locked(false)

    /// The feed's number for the program's icon, 0 for none; `nil` if the agent keeps a number of its own.
    package var badge: Int?
    /// Sets the feed's number, 0 for none. Called on any thread; it must not block.
    package var setBadge: @Sendable (Int) -> Void
    /// Hands messages to the agent until its task is cancelled, or no more come.
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
