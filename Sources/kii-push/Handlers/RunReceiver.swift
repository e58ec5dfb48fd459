import KiiPushCore

/// Who handles the messages of `run`.
enum RunReceiver: Sendable {
    /// A command or a server.
    case outside(OutsideBridge, concurrency: Int)
    /// A program with this library.
    case activator(Activator, concurrency: Int)

    var concurrency: Int {
        switch self {
        case .outside(_, let concurrency), .activator(_, let concurrency): concurrency
        }
    }

    var bridge: OutsideBridge? {
        if case .outside(let bridge, _) = self { bridge } else { nil }
    }

    /// Makes the agent that it handles the messages of.
    func agent(runtime: PushRuntime, configuration: PushAgent.Configuration) -> PushAgent {
        switch self {
        case .outside(let bridge, _): PushAgent(runtime: runtime, configuration: configuration, handler: bridge)
        case .activator(let activator, _): PushAgent(runtime: runtime, configuration: configuration, handler: activator)
        }
    }

    /// Ends what an earlier run has left.
    func begin() {
        switch self {
        case .outside(let bridge, _): bridge.outside.begin()
        case .activator: break
        }
    }

    /// Ends what runs. Returns when nothing does any more.
    func stop() async {
        switch self {
        case .outside(let bridge, _): await bridge.outside.stop()
        case .activator(let activator, _): await activator.stop()
        }
    }
}
