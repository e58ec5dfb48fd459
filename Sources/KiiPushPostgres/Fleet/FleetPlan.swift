#if Postgres
/// Decides which shards to hand over and which agents to start and stop. A state machine without clocks or I/O.
///
/// To hand over a shard, it stops the shard's agents and then releases the shard. It stops the agents of 16 shards at a
/// time.
struct FleetPlan {
    enum Step: Hashable {
        case read([Int64], number: Int)
        case start(FleetRow)
        case stop(agent: String)
        case remove(FleetRow)
        case release([Int64])

        var isRead: Bool { if case .read = self { true } else { false } }
    }

    private struct Shard {
        var revision: Int64
        var read: Int?
        var isRead = false
        var isRefused = false
        var isLeaving = false
        var isDraining = false
        var isReleasing = false
    }

    private struct Agent {
        var row: FleetRow
        var isStopping = false
        /// Whether the gateway rereads the agent's row once the agent has ended, and restarts the agent accordingly.
        var isRestarting = false
        var isRemoved = false
    }

    static let handedOverAtOnce = 16

    private var shards: [Int64: Shard] = [:]
    private var agents: [String: Agent] = [:]
    private var occupied: [Int64: Int] = [:]
    private var lastRead = 0
    private var share = 0
    private var gateways = 0

    var shardCount: Int { self.shards.count }
    var agentCount: Int { self.agents.count }
    /// Whether shards are about to change gateways or are still unread, so that the lease should be renewed soon.
    var isUnsettled: Bool {
        // Gateways round their shares up, so the last gateway may lack some shards, but fewer than the number of
        // gateways.
        self.shards.count < self.share - self.gateways
            || self.shards.values.contains { $0.isLeaving || !$0.isRead && !$0.isRefused }
    }

    // MARK: - Events

    mutating func renewed(share: Int, gateways: Int, shards: [Int64: Int64]) -> [Step] {
        (self.share, self.gateways) = (share, gateways)
        var steps: [Step] = []
        for (id, _) in self.shards where shards[id] == nil { steps += self.lost(id) }
        var unread: [Int64] = []
        for (id, revision) in shards {
            let isKnown = self.shards[id].map { $0.revision == revision && ($0.isRead || $0.read != nil) } ?? false
            self.shards[id, default: Shard(revision: revision)].revision = revision
            if !isKnown, self.shards[id]?.isLeaving == false { unread.append(id) }
        }
        return steps + self.readAgain(unread) + self.handOver()
    }

    mutating func read(_ rows: [FleetRow], number: Int) -> [Step] {
        let answered = Set(self.shards.filter { $0.value.read == number }.keys)
        var steps: [Step] = []
        var declared: Set<String> = []
        for row in rows where answered.contains(row.shard) {
            declared.insert(row.name)
            if self.shards[row.shard]?.isLeaving == false { steps += self.declared(row) }
        }
        for (name, agent) in self.agents
        where answered.contains(agent.row.shard) && !declared.contains(name) && !agent.isStopping {
            steps.append(self.stop(name))
        }
        for id in answered {
            self.shards[id]?.read = nil
            self.shards[id]?.isRead = true
            self.shards[id]?.isRefused = false
        }
        return steps
    }

    mutating func failedToRead(number: Int) {
        for id in self.shards.filter({ $0.value.read == number }).keys {
            self.shards[id]?.read = nil
            self.shards[id]?.isRefused = true
        }
    }

    mutating func ended(_ name: String) -> [Step] {
        guard let agent = self.agents.removeValue(forKey: name) else { return [] }
        let id = agent.row.shard
        self.occupied[id, default: 1] -= 1
        if self.occupied[id] == 0 { self.occupied[id] = nil }
        guard let shard = self.shards[id] else { return [] }
        if agent.isRemoved { return [.remove(agent.row)] + self.handOver() }
        guard !shard.isLeaving, agent.isRestarting || shard.read != nil else { return self.handOver() }
        return self.readAgain([id])
    }

    mutating func failedToRemove(_ row: FleetRow) {
        self.shards[row.shard]?.isRead = false
        self.shards[row.shard]?.isRefused = true
    }

    mutating func released(_ shards: [Int64]) -> [Step] {
        let steps = shards.flatMap { self.lost($0) }
        return steps + self.handOver()
    }

    mutating func failedToRelease(_ shards: [Int64]) {
        for id in shards { self.shards[id]?.isReleasing = false }
    }

    mutating func suspend() -> [Step] {
        // Keeps shards whose release is under way, because the release may still succeed.
        self.shards = self.shards.filter { $0.value.isReleasing }
        self.share = 0
        for name in self.agents.keys { self.agents[name]?.isRestarting = false }
        return self.agents.filter { !$0.value.isStopping }.keys.sorted().map { self.stop($0) }
    }

    // MARK: - Steps

    private mutating func readAgain(_ shards: [Int64]) -> [Step] {
        guard !shards.isEmpty else { return [] }
        self.lastRead += 1
        for id in shards {
            self.shards[id]?.read = self.lastRead
            self.shards[id]?.isRead = false
        }
        return [.read(shards.sorted(), number: self.lastRead)]
    }

    private mutating func declared(_ row: FleetRow) -> [Step] {
        guard let agent = self.agents[row.name] else {
            guard !row.isLeaving else { return [.remove(row)] }
            self.agents[row.name] = Agent(row: row)
            self.occupied[row.shard, default: 0] += 1
            return [.start(row)]
        }
        self.agents[row.name]?.isRemoved = row.isLeaving
        let isAsDeclared = agent.row.declaration == row.declaration
        guard row.isLeaving || !isAsDeclared || agent.isStopping else { return [] }
        self.agents[row.name]?.isRestarting = !row.isLeaving
        return agent.isStopping ? [] : [self.stop(row.name)]
    }

    private mutating func stop(_ name: String) -> Step {
        self.agents[name]?.isStopping = true
        return .stop(agent: name)
    }

    private mutating func lost(_ id: Int64) -> [Step] {
        self.shards[id] = nil
        return self.stopAgents(of: id)
    }

    private mutating func stopAgents(of shard: Int64) -> [Step] {
        let names = self.agents.filter { $0.value.row.shard == shard }.keys.sorted()
        for name in names { self.agents[name]?.isRestarting = false }
        return names.filter { self.agents[$0]?.isStopping == false }.map { self.stop($0) }
    }

    private mutating func handOver() -> [Step] {
        let staying = self.shards.filter { !$0.value.isLeaving }.keys
        guard staying.count > self.share || staying.count < self.shards.count else { return [] }
        // Hands over the highest numbers. A new gateway takes the lowest free shards first, so the same few shards
        // would otherwise move again and again.
        for id in staying.sorted(by: >).prefix(max(0, staying.count - self.share)) {
            self.shards[id]?.isLeaving = true
        }
        var steps: [Step] = []
        var (empty, draining): ([Int64], Int) = ([], 0)
        // In ascending order. If empty shards went first, the first gateway to take shards would get only empty ones.
        for id in self.shards.filter({ $0.value.isLeaving }).keys.sorted() {
            if self.occupied[id] == nil {
                guard self.shards[id]?.isReleasing == false else { continue }
                self.shards[id]?.isReleasing = true
                empty.append(id)
                continue
            }
            draining += 1
            guard draining <= Self.handedOverAtOnce else { break }
            guard self.shards[id]?.isDraining == false else { continue }
            self.shards[id]?.isDraining = true
            steps += self.stopAgents(of: id)
        }
        if !empty.isEmpty { steps.append(.release(empty)) }
        return steps
    }
}
#endif
