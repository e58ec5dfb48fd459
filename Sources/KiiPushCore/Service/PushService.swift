import Glibc

/// Runs agents as a daemon, until SIGTERM or SIGINT, or until an agent stops by itself.
///
/// ```swift
/// let end = await PushService([agent]).run()
/// if let error = end.error { print(error) }
/// exit(end.status)
/// ```
///
/// No other part of the library handles signals. If systemd's variables are in the environment, the service also
/// reports the agents' state to systemd (`Type=notify`, `WatchdogSec=`).
public struct PushService: Sendable {
    private let agents: [PushAgent]

    /// - Parameter agents: at least one. They may share a runtime.
    public init(_ agents: [PushAgent]) { self.agents = agents }

    /// Runs all agents. If one stops, stops all of them. Then shuts their runtimes down for good.
    ///
    /// SIGTERM, SIGINT and a cancelled task stop gracefully: running handlers get
    /// ``PushRuntime/Configuration/shutdownGrace``. A second signal ends the process at once, with status 128 plus the
    /// signal's number. An agent's next run then delivers the messages of running handlers again. A signal that the
    /// process ignores stays ignored. `run` restores the former signal actions before it returns.
    ///
    /// `run` sends systemd `READY=1` once every agent has been connected, `STATUS=` whenever a connection changes,
    /// `STOPPING=1`, and `WATCHDOG=1` while all agents are alive. An agent is alive on three conditions:
    /// - The network thread responds.
    /// - The broker sent something within 100 s (or ``PushAgent/Configuration/keepAlive`` plus 40 s, if that is
    ///   longer). This applies only to an open connection with keep-alive from which the agent reads.
    /// - No handler is more than 60 s past its deadline.
    ///
    /// Set `RestartPreventExitStatus=77 78` in the systemd unit.
    ///
    /// - Returns: the status to exit with, and the error that stopped the service (`nil` if the status is 0). The
    ///   status is 0 after a graceful stop; 75 (`EX_TEMPFAIL`) after a temporary failure, so that another start may
    ///   help; 77 (`EX_NOPERM`) if the cloud refuses an agent's credentials; 78 (`EX_CONFIG`) after any other failure,
    ///   which only a person can repair.
    public func run() async -> (status: Int32, error: (any Error)?) {
        let failure: (any Error)?
        do {
            guard !self.agents.isEmpty else {
                throw PushAgentError.invalidConfiguration(setting: "agents", reason: "has to name at least one")
            }
            let signals = try StopSignals()
            failure = await self.run(until: signals)
            signals.handBack()
        } catch {
            await self.shutDown()
            failure = error
        }
        return (failure.map(Self.status) ?? 0, failure)
    }

    private func run(until signals: StopSignals) async -> (any Error)? {
        let notifier = ServiceNotifier(path: environmentVariable("NOTIFY_SOCKET"))
        let status = ServiceStatus(notifier, agentCount: self.agents.count)
        let watchdog = Watchdog(
            notifier, microseconds: environmentVariable("WATCHDOG_USEC"),
            processID: environmentVariable("WATCHDOG_PID"), ownProcessID: getpid())
        watchdog.begin(.init(self.agents) { status.text })
        for (index, agent) in self.agents.enumerated() { agent.observe { status.observe($0, of: index) } }
        // The watchdog also needs feeding while the agents stop, which may take long.
        async let _ = watchdog.feed()
        let failure = await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                _ = await signals.next()
                return nil
            }
            for agent in self.agents {
                group.addTask {
                    do { try await agent.run() } catch { return error }
                    return nil
                }
            }
            let first = await group.next() ?? nil
            notifier.stopping()
            watchdog.end()
            group.cancelAll()
            return await group.reduce(first) { $0 ?? $1 }
        }
        await self.shutDown()
        return failure
    }

    private func shutDown() async {
        let runtimes = self.agents.reduce(into: [ObjectIdentifier: PushRuntime]()) {
            $0[ObjectIdentifier($1.runtime)] = $1.runtime
        }
        await withTaskGroup { group in
            for runtime in runtimes.values { group.addTask { await runtime.shutdown() } }
        }
    }

    static func status(after error: any Error) -> Int32 {
        switch error {
        case PushAgentError.signInRefused, PushAgentError.pseudoUserLost: EX_NOPERM
        case let error as PushAgentError: error.isTemporary ? EX_TEMPFAIL : EX_CONFIG
        case is SystemError: EX_TEMPFAIL
        case _ where TemporaryFailure(error) != nil: EX_TEMPFAIL
        case let error as KiiError where error.status == 401 || error.status == 403 || error.refusesCredentials:
            EX_NOPERM
        default: EX_CONFIG
        }
    }
}
