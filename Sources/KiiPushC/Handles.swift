import KiiPushCore

/// The objects of the program's handles. Numbers are never reused, so an old handle never names a newer object.
struct HandleTable {
    private var last: UInt64 = 0
    private var runtimes: [UInt64: OpenRuntime] = [:]
    private var agents: [UInt64: HostedAgent] = [:]
    var calls = HandlerCalls()

    mutating func add(_ runtime: OpenRuntime) -> UInt64 {
        self.last += 1
        self.runtimes[self.last] = runtime
        return self.last
    }

    mutating func add(_ agent: HostedAgent, to number: UInt64) -> UInt64? {
        guard self.runtimes[number] != nil else { return nil }
        self.last += 1
        self.agents[self.last] = agent
        return self.last
    }

    mutating func add(_ make: (UInt64) -> HandlerCall) -> (number: UInt64, over: [HandlerCall]) {
        let over = self.calls.add(after: &self.last, make)
        return (self.last, over)
    }

    func runtime(_ number: UInt64) -> OpenRuntime? { self.runtimes[number] }
    func agent(_ number: UInt64) -> HostedAgent? { self.agents[number] }

    /// Also ends the handles of the runtime's agents. Returns `nil` if the runtime's handle has ended already.
    mutating func remove(runtime number: UInt64) -> OpenRuntime? {
        guard let runtime = self.runtimes.removeValue(forKey: number) else { return nil }
        self.agents = self.agents.filter { $0.value.runtime !== runtime }
        return runtime
    }
}

let handles = Locked(HandleTable())

func runtime(_ number: UInt64) throws(CFailure) -> OpenRuntime {
    guard let runtime = handles.withLock({ $0.runtime(number) }) else { throw .handle("runtime") }
    return runtime
}

func agent(_ number: UInt64) throws(CFailure) -> HostedAgent {
    guard let agent = handles.withLock({ $0.agent(number) }) else { throw .handle("agent") }
    return agent
}
