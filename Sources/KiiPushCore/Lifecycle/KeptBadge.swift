/// The number on an agent's icon, for a handler that passes messages to another process.
package protocol KeptBadge: AnyObject, Sendable {
    var number: Int? { get }

    func set(_ number: Int?)

    /// Calls `body` after each change, on the thread of the change. `body` must not block.
    func onChange(_ body: @escaping @Sendable () -> Void)
}

package protocol BadgeFollower {
    func follow(_ badge: any KeptBadge)
}
