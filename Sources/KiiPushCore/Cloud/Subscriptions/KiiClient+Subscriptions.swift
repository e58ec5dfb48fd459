extension KiiClient {
    /// Subscribes `principal` to `target` unless it is subscribed.
    ///
    /// - Returns: Whether this call made the subscription.
    /// - Throws: ``KiiError`` with ``KiiErrorCode/topicNotFound`` or ``KiiErrorCode/filterNotFound`` when the target is
    ///   not there; otherwise see ``KiiClient``. Never for a subscription that is there already.
    @discardableResult
    public func subscribe(
        _ principal: Principal,
        to target: SubscriptionTarget,
        token: Secret
    ) async throws -> CreateSubscription.Outcome {
        try await self.execute(CreateSubscription(of: principal, to: target), token: token)
    }

    /// Subscribes `principal` to `target`, to which it must not be subscribed yet.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/pushSubscriptionAlreadyExists`` when it is; otherwise as
    ///   ``subscribe(_:to:token:)``.
    public func subscribeStrictly(
        _ principal: Principal,
        to target: SubscriptionTarget,
        token: Secret
    ) async throws {
        let call = CreateSubscription(of: principal, to: target, acceptsExisting: false)
        _ = try await self.execute(call, token: token)
    }

    /// Subscribes whoever holds `token` to `target`, unless it is subscribed.
    ///
    /// - Parameters:
    ///   - subscriber: Whose token it is.
    ///   - target: To what.
    ///   - token: The token of a user or a thing; an administrator's is refused.
    /// - Returns: Whether this call made the subscription.
    /// - Throws: As ``subscribe(_:to:token:)``.
    @discardableResult
    public func subscribeSelf(
        as subscriber: SubscribeSelf.Subscriber,
        to target: SubscriptionTarget,
        token: Secret
    ) async throws -> CreateSubscription.Outcome {
        try await self.execute(SubscribeSelf(as: subscriber, to: target), token: token)
    }

    /// Asks whether `principal` is subscribed to `target`; a target that is not there counts as "no".
    ///
    /// - Throws: See ``KiiClient``; a missing app or principal is an error.
    public func isSubscribed(
        _ principal: Principal,
        to target: SubscriptionTarget,
        token: Secret
    ) async throws -> Bool {
        try await self.execute(CheckSubscription(of: principal, to: target), token: token)
    }

    /// Ends the subscription of `principal` to `target`.
    ///
    /// - Throws: ``KiiError`` with ``KiiErrorCode/pushSubscriptionNotFound`` when there is none; otherwise see
    ///   ``KiiClient``.
    public func unsubscribe(
        _ principal: Principal,
        from target: SubscriptionTarget,
        token: Secret
    ) async throws {
        try await self.execute(DeleteSubscription(of: principal, to: target), token: token)
    }
}
