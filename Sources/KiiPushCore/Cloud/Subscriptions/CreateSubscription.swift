/// Subscribes a user or a thing to a topic or a bucket.
///
/// A topic must be there. A bucket that is not is created according to Kii's reference, and refused with
/// ``KiiErrorCode/filterNotFound`` according to its guide.
///
/// - Source: `PUT …/topics/{topicID}/push/subscriptions/users/{userID}` and
///   `…/buckets/{bucketID}/filters/all/push/subscriptions/…`, with an empty body
public struct CreateSubscription: KiiEndpoint {
    /// What became of the subscription.
    public enum Outcome: Sendable, Hashable {
        /// It was made by this call.
        case subscribed
        /// It was there already. After a repetition it may be the first request that made it.
        case alreadySubscribed
    }

    /// Who is to be subscribed.
    public var principal: Principal
    /// To what.
    public var target: SubscriptionTarget
    /// Whether a subscription that is there already is a success.
    public var acceptsExisting: Bool

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - principal: Who is to be subscribed.
    ///   - target: To what.
    ///   - acceptsExisting: Whether a subscription that is there already is a success. Default `true`.
    public init(of principal: Principal, to target: SubscriptionTarget, acceptsExisting: Bool = true) {
        self.principal = principal
        self.target = target
        self.acceptsExisting = acceptsExisting
    }

    /// PUT.
    public var method: HTTPMethod { .put }
    /// Not when one that is there already is an error: a repetition would meet what the first request made.
    public var isIdempotent: Bool { self.acceptsExisting }
    /// Empty.
    public var body: KiiBody { .empty }
    /// 204.
    public var successStatuses: Set<Int> { [204] }

    /// The subscription's path.
    public func path(in app: KiiApp) -> KiiPath { self.target.path(in: app, of: self.principal) }

    /// Refuses a topic's ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.target.validate() }

    /// Subscribed.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Outcome { .subscribed }

    /// 409, if accepted.
    public func answer(from error: KiiError) -> Outcome? {
        self.acceptsExisting && error.saysItExists(.pushSubscriptionAlreadyExists) ? .alreadySubscribed : nil
    }
}
