import CKiiPush
import Glibc
import KiiPushCore
import Synchronization

final class OpenRuntime: Sendable {
    private struct State {
        var agents: [HostedAgent] = []
        var isEnding = false
    }

    let runtime: PushRuntime
    private let state = Locked(State())
    private let hasClosed = Atomic(false)
    /// The number of threads that call observers or are about to.
    private let observerCalls = Monitor(0)

    init(_ configuration: PushRuntime.Configuration) throws(CFailure) {
        do {
            self.runtime = try PushRuntime(configuration: configuration)
        } catch {
            throw CFailure(error)
        }
    }

    var isClosed: Bool { self.hasClosed.load(ordering: .sequentiallyConsistent) }

    /// Runs `body`, which calls observers, unless the runtime is closed.
    func observing(_ body: () -> Void) {
        // Counts before the check, so that ``waitForObservers()`` misses no call.
        self.observerCalls.withLock { $0 += 1 }
        if !self.isClosed { body() }
        self.observerCalls.withLock { $0 -= 1 }
        self.observerCalls.signalAll()
    }

    /// Call after ``close()``. The wait is short, since observers must not block.
    func waitForObservers() { self.observerCalls.wait { $0 == 0 ? .leave(()) : .sleep(until: nil) } }

    func add(_ agent: HostedAgent) throws(CFailure) {
        try self.state.withLock { state throws(CFailure) in
            guard !state.isEnding else { throw .handle("runtime") }
            guard !state.agents.contains(where: { $0.name == agent.name }) else {
                throw CFailure(KII_PUSH_E_CONFIGURATION, "/name is that of another agent of this runtime")
            }
            state.agents.append(agent)
        }
    }

    func serve() async throws(CFailure) -> (status: Int32, error: (any Error)?) {
        let agents = self.state.withLock { $0.agents }
        guard !agents.isEmpty else { throw .state("the runtime has no agent; make one first") }
        for (index, agent) in agents.enumerated() {
            do {
                try agent.begin()
            } catch {
                for begun in agents[..<index] { begun.finish(nil) }
                throw error
            }
        }
        let end = await PushService(agents.map(\.agent)).run()
        for agent in agents { agent.finish(nil) }
        return end
    }

    func close() async {
        let agents = self.state.withLock { state in
            state.isEnding = true
            return state.agents
        }
        for agent in agents { agent.close() }
        for agent in agents { await agent.end() }
        await self.runtime.shutdown()
        self.hasClosed.store(true, ordering: .sequentiallyConsistent)
        let ended = self.state.withLock { state in
            defer { state.agents = [] }
            return state.agents
        }
        // Releases the agents, which retain the runtime. Outside the lock, since an agent's `deinit` may call
        // observers.
        withExtendedLifetime(ended) {}
    }
}

/// The process that opened the first runtime. Atomic, since a lock might stay locked for ever in a fork.
private let openingProcess = Atomic<pid_t>(0)

func claimProcess() {
    _ = openingProcess.compareExchange(expected: 0, desired: getpid(), ordering: .sequentiallyConsistent)
}

/// Throws in a fork, which has a copy of the runtime but none of its threads.
func requireOwnProcess() throws(CFailure) {
    let owner = openingProcess.load(ordering: .sequentiallyConsistent)
    guard owner == 0 || owner == getpid() else {
        throw CFailure(
            KII_PUSH_E_FORKED,
            "this process is a fork of the one that opened the runtime; fork before a runtime is opened, or exec")
    }
}
