/// Asks whether a user or a thing is subscribed to a topic or a bucket.
///
/// - Source: `GET …/push/subscriptions/users/{userID}` and `…/things/{thingID}`
public struct CheckSubscription: KiiEndpoint {
    /// Who.
    public var principal: Principal
    /// To what.
    public var target: SubscriptionTarget

    /// Makes the call.
    public init(of principal: Principal, to target: SubscriptionTarget) {
        self.principal = principal
        self.target = target
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 204.
    public var successStatuses: Set<Int> { [204] }

    /// The subscription's path.
    public func path(in app: KiiApp) -> KiiPath { self.target.path(in: app, of: self.principal) }

    /// Refuses a topic's ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.target.validate() }

    /// Subscribed.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Bool { true }

    /// Not subscribed, also when the topic or the bucket is not there; a missing app or principal stays an error.
    public func answer(from error: KiiError) -> Bool? {
        error.saysItIsAbsent([.pushSubscriptionNotFound, .topicNotFound, .filterNotFound, .bucketNotFound])
            ? false : nil
    }
}

/// Ends the subscription of a user or a thing.
///
/// - Source: `DELETE …/push/subscriptions/users/{userID}` and `…/things/{thingID}`; the ID may not be left out
public struct DeleteSubscription: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// Whose.
    public var principal: Principal
    /// To what.
    public var target: SubscriptionTarget

    /// Makes the call.
    public init(of principal: Principal, to target: SubscriptionTarget) {
        self.principal = principal
        self.target = target
    }

    /// DELETE.
    public var method: HTTPMethod { .delete }
    /// 204; 200 is taken as well, since Kii's guide for topics says so.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The subscription's path.
    public func path(in app: KiiApp) -> KiiPath { self.target.path(in: app, of: self.principal) }

    /// Refuses a topic's ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.target.validate() }
}
