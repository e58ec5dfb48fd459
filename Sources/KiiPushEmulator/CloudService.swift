import KiiPushCore

final class CloudService: Sendable {
    private struct Core {
        let cloud: EmulatedCloud
        let store: StateStore
        var connected: [String: InstallationConnection] = [:]

        /// If the changes cannot be written, reads the stored state again and answers 503.
        func respond(to request: IncomingRequest) -> EmulatedCloud.Reply {
            let reply = self.cloud.respond(to: request, now: .now())
            do throws(EmulatorError) {
                try self.store.apply(reply.effects.changes)
                self.cloud.commit(reply.effects)
                return reply
            } catch {
                // If the disk cannot be read either, the cloud continues with its state in memory.
                if let stored = try? EmulatorState(store: self.store) { self.cloud.state = stored.cloud }
                return EmulatedCloud.Reply(
                    caller: reply.caller, response: KiiFailure.stateUnwritable.response,
                    effects: EmulatedCloud.Effects())
            }
        }
    }

    private let core: Locked<Core>
    private let activity: ActivityLog
    private let broker: Broker
    private let publisher: Publisher
    private let delayed: DelayedReplies
    private let receivers: Receivers
    private let faultNews: PollThread<FaultNews>

    init(
        cloud: sending EmulatedCloud, store: sending StateStore, broker: Broker, publisher: Publisher,
        delayed: DelayedReplies, faultNews: PollThread<FaultNews>, activity: ActivityLog, receivers: Receivers
    ) {
        self.core = Locked(Core(cloud: cloud, store: store))
        self.activity = activity
        self.broker = broker
        self.publisher = publisher
        self.delayed = delayed
        self.receivers = receivers
        self.faultNews = faultNews
    }

    func handle(_ request: IncomingRequest, reply: @escaping @Sendable (HTTPResponse?) -> Void) {
        // Several HTTP threads call this function. Under the lock, the broker and the publisher get the changes in the
        // order in which they were stored. Calls to the broker and the publisher only queue work.
        let begin = MonotonicInstant.now()
        self.core.withLock { core in
            let outcome = core.respond(to: request)
            self.receivers.note(outcome.effects.messages)
            if core.cloud.script.hasNews { self.faultNews.send(.look) }
            let isCounted = core.cloud.script.current != nil
            self.perform(outcome, isCounted: isCounted) { [activity = self.activity] response in
                activity.append(.request(AnsweredRequest(request, outcome, response, elapsed: .now() - begin)))
                reply(response)
            }
        }
    }

    func requireAdministrator(_ request: IncomingRequest, _ target: RequestTarget) throws(KiiFailure) {
        let call = CloudCall(request: request, target: target, now: .now())
        try self.core.withLock { core throws(KiiFailure) in
            _ = try core.cloud.authenticate(call, need: .administrator)
        }
    }

    func message(_ id: String) throws(KiiFailure) -> LoggedMessage {
        try self.core.withLock { core throws(KiiFailure) in try core.cloud.message(id) }
    }

    func note(_ change: BrokerConnections.Change) {
        let connection = self.core.withLock { core -> InstallationConnection? in
            // After a disconnection, the installation may already be deleted or have another user name.
            guard change.isOnline else { return core.connected.removeValue(forKey: change.username) }
            let record = core.cloud.state.installation(username: change.username)
            let connection = record.map { InstallationConnection(installationID: $0.id, owner: $0.owner.text) }
            core.connected[change.username] = connection
            return connection
        }
        guard var connection else { return }
        connection.isOnline = change.isOnline
        connection.transport = change.transport
        self.activity.append(.connection(connection))
    }

    func advanceFaults(_ news: [FaultNews]) -> (task: FaultTask?, script: Int, due: Timestamp?) {
        self.core.withLock { $0.cloud.advanceFaults(news, now: .now()) }
    }

    private func perform(
        _ outcome: EmulatedCloud.Reply, isCounted: Bool, _ reply: @escaping @Sendable (HTTPResponse?) -> Void
    ) {
        let effects = outcome.effects
        let answer: @Sendable (HTTPResponse?) -> Void = { response in
            self.delayed.after(effects.delay) { reply(response) }
        }
        self.broker.revoke(effects.revocations)
        self.broker.grant(effects.grants) { isGranted in
            guard isGranted else {
                // Any changes are already on disk. Without changes, the HTTP client may safely repeat the request.
                let failure = effects.changes.isEmpty ? KiiFailure.brokerSilent : .brokerSilentAfterChange
                return answer(failure.response)
            }
            self.publisher.publish(effects.publications) { isAcknowledged in
                if isCounted, isAcknowledged, !effects.publications.isEmpty {
                    self.faultNews.send(.published(effects.publications.map { $0.topic }))
                }
                answer(isAcknowledged ? outcome.response : KiiFailure.brokerSilentAfterChange.response)
            }
        }
    }
}
