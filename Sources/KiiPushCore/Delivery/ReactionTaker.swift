/// Takes what users do with notifications, on any thread. Each returns false when it is too late in this process: the
/// message is shown again by the next one.
package protocol ReactionTaker: AnyObject, Sendable {
    /// The user opened what showed a message: it is delivered (again), by the next run if its agent does not run now.
    func opened(_ opening: DeliveryOpening) -> Bool
    /// What showed a message, for whose sake nobody was called, is gone.
    func dismissed(_ sequence: Int64, installation: Int64) -> Bool
    /// What showed a message, for whose sake nobody was called, has ended: it is delivered again.
    func withdrawn(_ sequence: Int64, installation: Int64) -> Bool
}
