/// The number on an agent's icon, for a handler that passes the agent's messages to another process.
package protocol KeptBadge: AnyObject, Sendable {
    var number: Int? { get }

    func set(_ number: Int?)

    /// Calls `body` after each change, on the thread that made it; `body` must not block.
    func onChange(_ body: @escaping @Sendable () -> Void)
}

/// A handler that passes messages to another process. That process reads and sets the agent's number.
package protocol BadgeFollower {
    /// The agent made with the handler calls this. If several agents do, the last one provides the number.
    func follow(_ badge: any KeptBadge)
}
