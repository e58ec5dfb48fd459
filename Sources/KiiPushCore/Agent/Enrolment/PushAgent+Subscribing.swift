extension PushAgent {
    func requireUsableConfiguration() throws(KiiInputError) {
        try self.configuration.installationMembers?.requireInstallationMembers()
        for target in self.configuration.subscriptions {
            _ = try target.subscriptions().encoded()
        }
    }

    /// Returns when the agent is subscribed to every target of the configuration.
    func keepSubscribed() async throws {
        var pending = self.configuration.subscriptions.map { target in
            PendingSubscription(target, reconnect: self.reconnect, retry: self.subscriptionRetry, now: .now())
        }
        // One call to the cloud at a time. A subscription that waits does not delay the others.
        while let index = pending.indices.min(by: { pending[$0].due < pending[$1].due }) {
            let target = pending[index].target
            do {
                try await self.runtime.waits.pass(pending[index].due - .now(), since: self.runtime.waits.mark)
                _ = try await self.enrolment.authorized { try await $0.subscribe(to: target) }
                self.hub.emit(.subscribed(target))
                pending.remove(at: index)
            } catch {
                try Task.checkCancellation()
                let isRefusal = self.enrolment.refusesCredentials(error)
                let (reason, delay) = pending[index].failed(error, isRefusal: isRefusal, now: .now())
                let isTriedAgain =
                    !isRefusal
                    || self.enrolment.isAccessRefusal(error)
                        && pending[index].refusals < self.reconnect.refusalsBeforeGivingUp
                self.hub.emit(.subscriptionFailed(target, reason: reason, retryIn: isTriedAgain ? delay : nil))
                if !isTriedAgain { throw error }
            }
        }
    }
}
