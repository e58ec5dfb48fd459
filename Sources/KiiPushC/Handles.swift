import KiiPushCore

/// What the numbers stand for that programs hold. A number is given out once, so that one whose object has ended is never
/// taken for another's.
struct HandleTable {
    private var last: UInt64 = 0
    private var runtimes: [UInt64: OpenRuntime] = [:]
    private var agents: [UInt64: HostedAgent] = [:]
    private var calls: [UInt64: HandlerCall] = [:]
    /// How many calls there are when those are looked for that nobody can answer any more.
    private var sweep = 64

    mutating func add(_ runtime: OpenRuntime) -> UInt64 {
        self.last += 1
        self.runtimes[self.last] = runtime
        return self.last
    }

    /// - Returns: `nil` where the handle of the agent's runtime, which is `number`, has ended meanwhile.
    mutating func add(_ agent: HostedAgent, to number: UInt64) -> UInt64? {
        guard self.runtimes[number] != nil else { return nil }
        self.last += 1
        self.agents[self.last] = agent
        return self.last
    }

    /// - Returns: the number, and the calls that it is too late to answer, to be let go of.
    mutating func add(_ call: HandlerCall) -> (number: UInt64, over: [HandlerCall]) {
        var over: [UInt64: HandlerCall] = [:]
        if self.calls.count >= self.sweep {
            // Asked once: one that is over a moment later would be let go of in here.
            over = self.calls.filter { $0.value.isOver }
            for number in over.keys { self.calls[number] = nil }
            self.sweep = max(64, 2 * self.calls.count)
        }
        self.last += 1
        self.calls[self.last] = call
        return (self.last, Array(over.values))
    }

    func runtime(_ number: UInt64) -> OpenRuntime? { self.runtimes[number] }
    func agent(_ number: UInt64) -> HostedAgent? { self.agents[number] }
    func call(_ number: UInt64) -> HandlerCall? { self.calls[number] }

    /// Ends a runtime's handle and those of its agents; `nil` where it has ended.
    mutating func remove(runtime number: UInt64) -> OpenRuntime? {
        guard let runtime = self.runtimes.removeValue(forKey: number) else { return nil }
        self.agents = self.agents.filter { $0.value.runtime !== runtime }
        return runtime
    }

    mutating func remove(call number: UInt64) { self.calls[number] = nil }

    /// The calls of a runtime, to be let go of.
    mutating func removeCalls(of runtime: OpenRuntime) -> [HandlerCall] {
        let ended = self.calls.values.filter { $0.runtime === runtime }
        self.calls = self.calls.filter { $0.value.runtime !== runtime }
        return ended
    }
}

/// The handles of this process.
let handles = Locked(HandleTable())

func runtime(_ number: UInt64) throws(CFailure) -> OpenRuntime {
    guard let runtime = handles.withLock({ $0.runtime(number) }) else { throw .handle("runtime") }
    return runtime
}

func agent(_ number: UInt64) throws(CFailure) -> HostedAgent {
    guard let agent = handles.withLock({ $0.agent(number) }) else { throw .handle("agent") }
    return agent
}

func call(_ number: UInt64) throws(CFailure) -> HandlerCall {
    guard let call = handles.withLock({ $0.call(number) }) else { throw .handle("completion of a message in hand") }
    return call
}
