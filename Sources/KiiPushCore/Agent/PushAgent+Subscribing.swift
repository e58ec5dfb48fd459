extension PushAgent {
    /// One subscription that the cloud has not confirmed yet.
    fileprivate struct Pending {
        var target: SubscriptionTarget
        var due: MonotonicInstant
        /// After failures that may pass by themselves.
        var reconnect: ReconnectPolicy
        /// After refusals.
        var retry: SubscriptionRetry
    }

    /// Refuses a configuration whose subscriptions can never be made.
    ///
    /// - Throws: ``KiiInputError``.
    func requireUsableSubscriptions() throws(KiiInputError) {
        for target in self.configuration.subscriptions {
            try target.validate()
            _ = try target.subscriptions(in: self.configuration.app).encoded()
        }
    }

    /// Sees to it that the cloud knows every subscription. Returns when it does, or when the task is cancelled.
    func keepSubscribed() async {
        var pending = self.configuration.subscriptions.map { target in
            Pending(
                target: target, due: .now(), reconnect: ReconnectPolicy(configuration: self.reconnect),
                retry: self.subscriptionRetry)
        }
        // One call at a time; one that has to wait does not hold up the others.
        while let index = pending.indices.min(by: { pending[$0].due < pending[$1].due }) {
            do {
                try await Task.sleep(for: max(.zero, pending[index].due - .now()))
                try await self.subscribe(to: pending[index].target)
                self.hub.emit(.subscribed(pending.remove(at: index).target))
            } catch {
                if Task.isCancelled { return }
                let (reason, delay) = pending[index].failed(error)
                self.hub.emit(.subscriptionFailed(pending[index].target, reason: reason, retryIn: delay))
                if let delay { pending[index].due = .now() + delay } else { pending.remove(at: index) }
            }
        }
    }

    private func subscribe(to target: SubscriptionTarget) async throws {
        _ = try await self.enrolment.authorized { token in
            guard let principal = token.principal else { return }
            try await self.client.subscribe(principal, to: target, token: token.token)
        }
    }
}

extension PushAgent.Pending {
    /// What to say of a failure, and when to try again; never when the agent itself cannot go on.
    mutating func failed(_ error: any Error) -> (reason: String, delay: Duration?) {
        if let failure = TemporaryFailure(error) {
            let decision = self.reconnect.connectionEnded(
                .attemptFailed, connectedFor: nil, retryAfter: failure.retryAfter)
            return (failure.reason, decision.delay)
        }
        // The topic may be made and the right granted while the agent runs.
        return ("\(error)", error is KiiError ? self.retry.refused() : nil)
    }
}
