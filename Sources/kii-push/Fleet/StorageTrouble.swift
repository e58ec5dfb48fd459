import KiiPushCore

/// Whether messages can be stored. Every agent of a gateway tells of its store, which many share.
struct StorageTrouble {
    enum Change: Equatable {
        case began(reason: String)
        case ended
    }

    private var agents: Set<String> = []
    private var reasons: Set<String> = []

    /// - Returns: what is new of it.
    mutating func noted(_ event: PushEvent, of agent: String) -> Change? {
        switch event {
        case .storageFailed(let reason):
            self.agents.insert(agent)
            return self.reasons.insert(reason).inserted ? .began(reason: reason) : nil
        case .storageRecovered:
            guard self.agents.remove(agent) != nil, self.agents.isEmpty else { return nil }
            self.reasons = []
            return .ended
        case .stopping:
            // It tells no more.
            self.agents.remove(agent)
            if self.agents.isEmpty { self.reasons = [] }
            return nil
        default: return nil
        }
    }
}
