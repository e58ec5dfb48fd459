import KiiPushCore

/// Whether messages can be stored. Every agent tells of its store, which those of a gateway share.
struct StorageTrouble {
    enum Change: Equatable {
        case began(reason: String)
        case ended
    }

    /// Those that have said that nothing is stored, by their names.
    private(set) var agents: Set<String> = []
    private var reasons: Set<String> = []
    /// What they still say may be the last that is heard of them.
    private var stopped: Set<String> = []

    /// - Returns: what is new of it.
    mutating func noted(_ event: PushEvent, of agent: String) -> Change? {
        switch event {
        case .storageFailed(let reason):
            guard !self.stopped.contains(agent) else { return nil }
            self.agents.insert(agent)
            return self.reasons.insert(reason).inserted ? .began(reason: reason) : nil
        case .storageRecovered:
            guard self.agents.remove(agent) != nil, self.agents.isEmpty else { return nil }
            self.reasons = []
            return .ended
        case .stopping, .registered:
            if case .stopping = event { self.stopped.insert(agent) } else { self.stopped.remove(agent) }
            self.agents.remove(agent)
            if self.agents.isEmpty { self.reasons = [] }
            return nil
        default: return nil
        }
    }
}
