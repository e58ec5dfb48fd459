extension AgentSession {
    /// Adopts stored messages of the same owner's other installations, unless an agent receives for them.
    func takeOver() async throws {
        let (key, runtime) = (self.installation.key, self.agent.runtime)
        do {
            let adoptions = try await self.loop.ask(self.core.pipeline) {
                $0.store.takeOver(key, besides: { key in runtime.hubs.withLock { $0[key] != nil } }, completion: $1)
            }
            for adoption in adoptions { self.note(adoption) }
        } catch let error as InboxError {
            // After a failure of the store, the agent's next run adopts the messages.
            if [.full, .locked, .io, .away].contains(error.kind) { return }
            throw PushAgentError(error, in: runtime.configuration.stateDirectory)
        }
    }

    func adopted(_ adoption: Adoption) {
        guard self.note(adoption) else { return }
        self.attach(adoption.key, adoption.id)
        Task { await self.agent.presentAgain([(adoption.key, adoption.id)], self.core) }
    }

    /// Delivers an installation's messages to this agent's handler. Another agent that already receives for the
    /// installation keeps it, unless the installation is this session's own.
    func attach(_ key: Int64, _ id: String) {
        let (hub, isOwn, receiver) = (self.agent.hub, key == self.installation.key, self.agent.receiver)
        let isMine = self.agent.runtime.hubs.withLock { hubs in
            guard isOwn || hubs[key] == nil || hubs[key] === hub else { return false }
            hubs[key] = hub
            return true
        }
        guard isMine else { return }
        self.agent.desk.attach(installations: [(key, id)], self.loop.reactions(in: self.core.pipeline))
        self.loop.submit { [core] in core.pipeline.value.attach(installation: key, id: id, receiver: receiver) }
    }

    var attached: [(key: Int64, id: String)] {
        let hub = self.agent.hub
        let hubs = self.agent.runtime.hubs.withLock { $0 }
        return self.installations.withLock { $0 }.filter { hubs[$0.key] === hub }
    }

    @discardableResult
    private func note(_ adoption: Adoption) -> Bool {
        let isNew = self.installations.withLock { installations in
            guard !installations.contains(where: { $0.key == adoption.key }) else { return false }
            installations.append((adoption.key, adoption.id))
            return true
        }
        if adoption.messages > 0 {
            self.agent.hub.emit(.adopted(fromInstallation: adoption.id, messages: adoption.messages))
        }
        return isNew
    }
}

extension PushAgent {
    var inboxOwner: InboxOwner? {
        let principal: String
        switch self.enrolment.current?.principal {
        case .user(let id): principal = "user:\(id)"
        case .thing(let id): principal = "thing:\(id)"
        case nil: return nil
        }
        let app = self.configuration.app
        return InboxOwner(site: app.baseURL, app: app.appID, principal: principal)
    }
}
