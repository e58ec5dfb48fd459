extension KiiSession {
    /// Subscribes somebody to a topic or a bucket.
    ///
    /// A topic must be there. A bucket that is not is created according to Kii's reference, and refused with
    /// ``KiiErrorCode/filterNotFound`` according to its guide.
    ///
    /// - Parameters:
    ///   - target: To what.
    ///   - principal: Who is to be subscribed. Default: whom the token belongs to. An administrator is nobody that could
    ///     be subscribed.
    ///   - acceptsExisting: Whether a subscription that is there already is a success. Default: yes.
    /// - Returns: Whether this call made the subscription. When its answer was lost and the call was repeated, it may
    ///   have been the first request.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/topicNotFound`` or ``KiiErrorCode/filterNotFound`` when the target is
    ///   not there, with ``KiiErrorCode/pushSubscriptionAlreadyExists`` unless `acceptsExisting`.
    /// - Source: `PUT …/topics/{topicID}/push/subscriptions/users/{userID}` and
    ///   `…/buckets/{bucketID}/filters/all/push/subscriptions/…`, with an empty body
    @discardableResult
    public func subscribe(
        to target: SubscriptionTarget, as principal: Principal? = nil, acceptsExisting: Bool = true
    ) async throws -> Bool {
        let path = try await self.subscription(of: principal, to: target)
        return try await self.perform(
            .making(
                .put, path, statuses: [204], existing: .pushSubscriptionAlreadyExists,
                acceptsExisting: acceptsExisting))
    }

    /// Asks whether somebody is subscribed. A target that is not there counts as "no"; a missing app or principal is an
    /// error.
    ///
    /// - Parameters:
    ///   - target: To what.
    ///   - principal: Who. Default: whom the token belongs to.
    /// - Source: `GET …/push/subscriptions/users/{userID}` and `…/things/{thingID}`
    public func isSubscribed(to target: SubscriptionTarget, as principal: Principal? = nil) async throws -> Bool {
        let path = try await self.subscription(of: principal, to: target)
        return try await self.perform(
            .asking(
                path, statuses: [204],
                absent: [.pushSubscriptionNotFound, .topicNotFound, .filterNotFound, .bucketNotFound]))
    }

    /// Ends a subscription.
    ///
    /// - Parameters:
    ///   - target: To what.
    ///   - principal: Whose. Default: of whom the token belongs to.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/pushSubscriptionNotFound`` when there is none.
    /// - Source: `DELETE …/push/subscriptions/users/{userID}` and `…/things/{thingID}`; the ID may not be left out
    public func unsubscribe(from target: SubscriptionTarget, as principal: Principal? = nil) async throws {
        let path = try await self.subscription(of: principal, to: target)
        try await self.perform(KiiCall(.delete, path, statuses: [200, 204]))
    }

    private func subscription(of principal: Principal?, to target: SubscriptionTarget) async throws -> KiiPath {
        try target.validate()
        var subscriber = principal
        if subscriber == nil { subscriber = try await self.token().principal }
        guard let subscriber else {
            throw KiiInputError(.userID, rule: "given with an administrator's token, which is nobody's subscription")
        }
        return target.subscriptions.appending(subscriber.path)
    }
}

/// What somebody can be subscribed to.
public enum SubscriptionTarget: Sendable, Hashable {
    /// A topic: what is sent to it arrives as push to user.
    case topic(Topic)
    /// A bucket: changes of its objects arrive as push to app.
    case bucket(Bucket)

    func validate() throws(KiiInputError) {
        if case .topic(let topic) = self { try topic.validate() }
    }

    /// Where all subscriptions to the target live.
    var subscriptions: KiiPath {
        let target =
            switch self {
            case .topic(let topic): topic.path
            // `all` is the only filter in use, though the reference has `{filterID}` here.
            case .bucket(let bucket): bucket.path.appending("filters", "all")
            }
        return target.appending("push", "subscriptions")
    }
}
