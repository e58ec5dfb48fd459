import CKiiPush
import KiiPushCore

/// A runtime that a program holds, and the agents in it.
final class OpenRuntime: Sendable {
    private struct State {
        var agents: [HostedAgent] = []
        var isEnding = false
        var isClosed = false
    }

    let runtime: PushRuntime
    private let state = Locked(State())

    init(_ configuration: PushRuntime.Configuration) throws(CFailure) {
        do {
            self.runtime = try PushRuntime(configuration: configuration)
        } catch {
            throw CFailure(error)
        }
    }

    /// Whether the program must not be called any more.
    var isClosed: Bool { self.state.withLock { $0.isClosed } }

    func add(_ agent: HostedAgent) throws(CFailure) {
        try self.state.withLock { state throws(CFailure) in
            guard !state.isEnding else { throw .handle("runtime") }
            guard !state.agents.contains(where: { $0.name == agent.name }) else {
                throw CFailure(KII_PUSH_E_CONFIGURATION, "/name is that of another agent of this runtime")
            }
            state.agents.append(agent)
        }
    }

    /// Its agents as a service, until it has stopped and the runtime is shut down.
    func serve() async throws(CFailure) -> PushService.End {
        let agents = self.state.withLock { $0.agents }
        guard !agents.isEmpty else { throw .state("the runtime has no agent; make one first") }
        for (index, agent) in agents.enumerated() {
            do {
                try agent.begin(.serving)
            } catch {
                for begun in agents[..<index] { begun.finish(.success(())) }
                throw error
            }
        }
        let end = await PushService(agents.map(\.agent)).run()
        for agent in agents { agent.finish(.success(())) }
        return end
    }

    /// Stops all that runs, with its grace.
    func close() async {
        let agents = self.state.withLock { state in
            state.isEnding = true
            return state.agents
        }
        for agent in agents { agent.close() }
        for agent in agents { await agent.end() }
        await self.runtime.shutdown()
        self.state.withLock { state in
            state.isClosed = true
            // They hold this runtime as it holds them.
            state.agents = []
        }
    }
}
