package import KiiPushCore

/// Which agents cannot do which work. Every agent tells of its store, which those of a gateway share.
package struct TroubledAgents {
    package enum Change: Equatable {
        case began(PushEvent.Trouble, reason: String)
        case ended(PushEvent.Trouble)
    }

    /// The names of those that have said so.
    private var agents: [PushEvent.Trouble: Set<String>] = [:]
    private var reasons: [PushEvent.Trouble: Set<String>] = [:]
    /// The last that is heard of an agent that was asked to stop may be a trouble.
    private var stopped: Set<String> = []

    package init() {}

    package func count(_ kind: PushEvent.Trouble) -> Int { self.agents[kind]?.count ?? 0 }

    /// - Returns: what is new of it for all agents together.
    package mutating func noted(_ event: PushEvent, of agent: String) -> Change? {
        switch event {
        case .trouble(let kind, let reason):
            guard !self.stopped.contains(agent) else { return nil }
            self.agents[kind, default: []].insert(agent)
            return self.reasons[kind, default: []].insert(reason).inserted ? .began(kind, reason: reason) : nil
        case .recovered(let kind): return self.remove(agent, kind) ? .ended(kind) : nil
        case .stopping, .registered:
            if case .stopping = event { self.stopped.insert(agent) } else { self.stopped.remove(agent) }
            for kind in PushEvent.Trouble.allCases { _ = self.remove(agent, kind) }
            return nil
        default: return nil
        }
    }

    /// - Returns: whether it was the last one.
    private mutating func remove(_ agent: String, _ kind: PushEvent.Trouble) -> Bool {
        guard self.agents[kind]?.remove(agent) != nil, self.count(kind) == 0 else { return false }
        self.reasons[kind] = nil
        return true
    }
}
