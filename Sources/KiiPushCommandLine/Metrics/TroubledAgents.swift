package import KiiPushCore

/// Agents in trouble, by kind of trouble. If a store is in trouble, each of its agents reports the trouble.
package struct TroubledAgents {
    package enum Change: Equatable {
        case began(PushEvent.Trouble, reason: String)
        case ended(PushEvent.Trouble)
    }

    private var agents: [PushEvent.Trouble: Set<String>] = [:]
    private var reasons: [PushEvent.Trouble: Set<String>] = [:]
    private var stopped: Set<String> = []

    package init() {}

    package func count(_ kind: PushEvent.Trouble) -> Int { self.agents[kind]?.count ?? 0 }

    /// - Returns: `began` for a new reason, `ended` if the last agent in this trouble has recovered; otherwise `nil`.
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

    private mutating func remove(_ agent: String, _ kind: PushEvent.Trouble) -> Bool {
        guard self.agents[kind]?.remove(agent) != nil, self.count(kind) == 0 else { return false }
        self.reasons[kind] = nil
        return true
    }
}
