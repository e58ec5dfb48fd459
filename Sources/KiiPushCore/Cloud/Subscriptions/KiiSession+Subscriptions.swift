extension KiiSession {
    /// Subscribes a principal to a topic or a bucket. The default is the token's principal. With an administrator's
    /// token, `principal` is required.
    ///
    /// The topic must exist. According to Kii's reference, the cloud creates a missing bucket; according to Kii's
    /// guide, the cloud answers `FILTER_NOT_FOUND`.
    ///
    /// - Returns: `false` if the subscription existed already, perhaps made by an earlier request of this call.
    /// - Throws: ``KiiError`` with `TOPIC_NOT_FOUND` or `FILTER_NOT_FOUND`, and with `PUSH_SUBSCRIPTION_ALREADY_EXISTS`
    ///   unless `acceptsExisting`.
    /// - Source: `PUT …/topics/{topicID}/push/subscriptions/users/{userID}` and
    ///   `…/buckets/{bucketID}/filters/all/push/subscriptions/…`
    @discardableResult
    public func subscribe(
        to target: SubscriptionTarget, as principal: Principal? = nil, acceptsExisting: Bool = true
    ) async throws -> Bool {
        try await self.perform(on: target, of: principal) {
            .making(
                $0, statuses: [204], existing: KiiErrorCode.pushSubscriptionAlreadyExists,
                acceptsExisting: acceptsExisting)
        }
    }

    /// Checks whether a principal, by default the token's, is subscribed. A missing topic or bucket means no. A missing
    /// app or principal is an error.
    ///
    /// - Source: `GET …/push/subscriptions/users/{userID}` and `…/things/{thingID}`
    public func isSubscribed(to target: SubscriptionTarget, as principal: Principal? = nil) async throws -> Bool {
        try await self.perform(on: target, of: principal) { path in
            .asking(
                path, statuses: [204],
                absent: [
                    KiiErrorCode.pushSubscriptionNotFound, KiiErrorCode.topicNotFound, KiiErrorCode.filterNotFound,
                    KiiErrorCode.bucketNotFound,
                ])
        }
    }

    /// Ends a subscription of a principal, by default the token's.
    ///
    /// - Throws: ``KiiError``, such as `PUSH_SUBSCRIPTION_NOT_FOUND`, `TOPIC_NOT_FOUND` or `FILTER_NOT_FOUND`.
    /// - Source: `DELETE …/push/subscriptions/users/{userID}` and `…/things/{thingID}`
    public func unsubscribe(from target: SubscriptionTarget, as principal: Principal? = nil) async throws {
        try await self.perform(on: target, of: principal) { KiiCall(.delete, $0, statuses: [200, 204]) }
    }

    /// The default subscriber is the token's owner. If the cloud refuses the token, the next token may have another
    /// owner. Each token therefore needs its own path.
    private func perform<Answer>(
        on target: SubscriptionTarget, of principal: Principal?, _ call: (KiiPath) -> KiiCall<Answer>
    ) async throws -> Answer {
        let subscriptions = try target.subscriptions()
        return try await self.withToken { token in
            guard let subscriber = principal ?? token.principal else {
                throw KiiInputError(
                    .userID, rule: "given with an administrator's token, since an administrator cannot be subscribed")
            }
            return try await self.client.perform(call(subscriptions.appending(subscriber.path)), token: token.token)
        }
    }
}

/// The target of a subscription.
public enum SubscriptionTarget: Sendable, Hashable {
    /// A topic. Kii calls its messages push to user.
    case topic(Topic)
    /// A bucket. Kii calls changes of its objects push to app.
    case bucket(Bucket)

    func subscriptions() throws(KiiInputError) -> KiiPath {
        let target =
            switch self {
            case .topic(let topic): try topic.path()
            // Kii's reference has `{filterID}` here; the library uses only the filter `all`.
            case .bucket(let bucket): bucket.path.appending("filters", "all")
            }
        return target.appending("push", "subscriptions")
    }
}
