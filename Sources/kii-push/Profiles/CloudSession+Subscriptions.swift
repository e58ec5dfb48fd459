import KiiPushCommandLine
import KiiPushCore

extension CloudSession {
    typealias SubscriptionOutcome = (isChanged: Bool, isTopicCreated: Bool)

    /// Subscribes `principal`. Creates a missing topic if the profile or the administrator has the right.
    func subscribe(_ principal: Principal, to target: SubscriptionTarget) async throws -> SubscriptionOutcome {
        let own = try self.own()
        var outcome = (isChanged: false, isTopicCreated: false)
        do {
            outcome.isChanged = try await own.subscribe(to: target, as: principal)
        } catch let error as KiiError where error.errorCode == KiiErrorCode.topicNotFound {
            guard case .topic(let topic) = target else { throw error }
            try await self.create(topic, after: error)
            outcome = (try await own.subscribe(to: target, as: principal), true)
        }
        self.profile.note([target], isSubscribed: true, self.console)
        return outcome
    }

    func unsubscribe(_ principal: Principal, from target: SubscriptionTarget) async throws -> Bool {
        do {
            try await self.own().unsubscribe(from: target, as: principal)
            self.profile.note([target], isSubscribed: false, self.console)
            return true
        } catch let error as KiiError where error.errorCode == KiiErrorCode.pushSubscriptionNotFound {
            self.profile.note([target], isSubscribed: false, self.console)
            return false
        } catch let error as KiiError where error.errorCode == KiiErrorCode.topicNotFound {
            guard case .topic(let topic) = target else { throw error }
            throw self.missing(topic, error, hint: "see what there is: kii-push subscriptions")
        }
    }

    func send(_ call: KiiCall<String>, to topic: Topic, as sender: KiiSession) async throws -> String {
        do {
            return try await sender.perform(call)
        } catch let error as KiiError where error.errorCode == KiiErrorCode.topicNotFound {
            let creation = "kii-push subscribe \(SubscriptionTarget.topic(topic).text)\(self.profile.option)"
            let list = "kii-push subscriptions" + (topic.scope == .app ? "" : " \(topic.scope.text)")
            throw self.missing(topic, error, hint: "create it: \(creation); or see what there is: \(list)")
        }
    }

    private func missing(_ topic: Topic, _ error: KiiError, hint: String) -> CommandFailure {
        var failure = CommandFailure(describing: error)
        failure.message = "there is no topic \(SubscriptionTarget.topic(topic).text)"
        failure.hint = hint + self.profile.option
        return failure
    }

    /// Creates a topic of the app as the administrator, and another topic as the profile's own user or thing.
    ///
    /// - Source: Kii's guide, "creating a topic".
    private func create(_ topic: Topic, after error: KiiError) async throws {
        let name = SubscriptionTarget.topic(topic).text
        guard topic.scope == .app else {
            try await self.own().createTopic(topic)
            self.console.status("created topic \(name), which was missing")
            return
        }
        guard let admin = self.admin else {
            var failure = CommandFailure(describing: error)
            failure.message = "there is no topic \(name), and only the app's admin can create it"
            failure.hint = "give clientID and clientSecret ('kii-push help files'), or have it created"
            throw failure
        }
        try await admin.createTopic(topic)
        self.console.status("created topic \(name), which was missing, as the app's admin")
    }
}
