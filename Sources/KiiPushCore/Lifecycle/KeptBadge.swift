/// The number on an agent's icon, for a handler that passes the agent's messages on to another process.
package protocol KeptBadge: AnyObject, Sendable {
    /// The number in view; `nil` when there is none.
    var number: Int? { get }

    func set(_ number: Int?)

    /// Has `body` called after each change, on the thread that made it; `body` must not block.
    func onChange(_ body: @escaping @Sendable () -> Void)
}

/// A handler that passes messages on to another process. That process reads and sets the agent's number.
package protocol BadgeFollower {
    /// Called by the agent that is made with the handler. Of several agents the last one has the number.
    func follow(_ badge: any KeptBadge)
}
