/// Subscribes whoever holds the token to a topic or a bucket, without naming it.
///
/// A user's token is for ``Subscriber/user`` alone and a thing's for ``Subscriber/thing``. An administrator is nobody
/// that could be subscribed.
///
/// - Source: `POST …/push/subscriptions/users` and `…/things`, with an empty body. Kii's guide for buckets shows PUT.
public struct SubscribeSelf: KiiEndpoint {
    /// Whose token it is.
    public enum Subscriber: Sendable, Hashable {
        /// A user's.
        case user
        /// A thing's.
        case thing
    }

    /// Whose token it is.
    public var subscriber: Subscriber
    /// To what.
    public var target: SubscriptionTarget
    /// Whether a subscription that is there already is a success.
    public var acceptsExisting: Bool

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - subscriber: Whose token it is.
    ///   - target: To what.
    ///   - acceptsExisting: Whether a subscription that is there already is a success. Default `true`.
    public init(as subscriber: Subscriber, to target: SubscriptionTarget, acceptsExisting: Bool = true) {
        self.subscriber = subscriber
        self.target = target
        self.acceptsExisting = acceptsExisting
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// Not when one that is there already is an error: a repetition would meet what the first request made.
    public var isIdempotent: Bool { self.acceptsExisting }
    /// Empty.
    public var body: KiiBody { .empty }
    /// 204.
    public var successStatuses: Set<Int> { [204] }

    /// The target's subscriptions of users or of things.
    public func path(in app: KiiApp) -> KiiPath {
        let subscriptions = self.target.subscriptions(in: app)
        return switch self.subscriber {
        case .user: subscriptions.appending("users")
        case .thing: subscriptions.appending("things")
        }
    }

    /// Refuses a topic's ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.target.validate() }

    /// Subscribed.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> CreateSubscription.Outcome { .subscribed }

    /// 409, if accepted.
    public func answer(from error: KiiError) -> CreateSubscription.Outcome? {
        self.acceptsExisting && error.saysItExists(.pushSubscriptionAlreadyExists) ? .alreadySubscribed : nil
    }
}
