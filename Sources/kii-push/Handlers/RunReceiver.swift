import KiiPushCore

/// Who handles the messages of `run`.
struct RunReceiver: Sendable {
    private enum Kind: Sendable {
        /// A command or a server.
        case outside(any OutsideHandler)
        /// A program with this library, and what ends others that an earlier run has left.
        case activator(Activator, endLeftovers: @Sendable () -> Void)
    }

    private let kind: Kind
    /// How many messages it gets at once.
    let concurrency: Int
    /// What is known about the messages that it has.
    let notes = MessageNotes()

    init(_ outside: any OutsideHandler, concurrency: Int) {
        self.kind = .outside(outside)
        self.concurrency = concurrency
    }

    /// - Parameter endLeftovers: ends the programs of an earlier run that had more than one.
    init(_ activator: Activator, concurrency: Int, endLeftovers: @escaping @Sendable () -> Void) {
        self.kind = .activator(activator, endLeftovers: endLeftovers)
        self.concurrency = concurrency
    }

    /// Makes the agent whose messages it handles.
    func agent(runtime: PushRuntime, configuration: PushAgent.Configuration) -> PushAgent {
        switch self.kind {
        case .outside(let outside):
            PushAgent(
                runtime: runtime, configuration: configuration,
                handler: OutsideBridge(outside: outside, notes: self.notes))
        case .activator(let activator, _):
            PushAgent(
                runtime: runtime, configuration: configuration,
                handler: ActivatorBridge(activator: activator, notes: self.notes))
        }
    }

    /// Ends what an earlier run has left.
    func begin() {
        switch self.kind {
        case .outside(let outside): outside.begin()
        case .activator(let activator, let endLeftovers):
            activator.begin()
            endLeftovers()
        }
    }

    /// No message follows.
    func hurry() {
        switch self.kind {
        case .outside(let outside): outside.hurry()
        case .activator: break
        }
    }

    /// Ends what runs. Returns when nothing does any more.
    func stop() async {
        switch self.kind {
        case .outside(let outside): await outside.stop()
        case .activator(let activator, _): await activator.stop()
        }
    }
}
