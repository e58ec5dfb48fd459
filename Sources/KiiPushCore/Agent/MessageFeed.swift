/// A process that keeps an agent's messages and hands them to it, in place of the broker.
///
/// `KiiPushActivation` has one for programs that a push starts: the process that started this one. The agent calls its
/// handler by the same rules, and presents nothing: the process that keeps the messages presents alerts, and tries a failed
/// attempt again.
public struct MessageFeed: Sendable {
    /// The number on the program's icon as that process has it, 0 for none; `nil` where it has none, and the agent keeps
    /// its own.
    package var badge: Int?
    /// Sets the number over there, 0 for none. Called on any thread; it must not block.
    package var setBadge: @Sendable (Int) -> Void
    /// Hands messages to the agent until its task is cancelled, or no more come.
    package var deliver: @Sendable (PushAgent) async throws -> Void

    /// Makes a feed from its parts.
    package init(
        badge: Int? = nil, setBadge: @escaping @Sendable (Int) -> Void = { _ in },
        deliver: @escaping @Sendable (PushAgent) async throws -> Void
    ) {
        self.badge = badge
        self.setBadge = setBadge
        self.deliver = deliver
    }
}
