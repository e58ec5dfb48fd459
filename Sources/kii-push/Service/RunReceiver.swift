import KiiPushActivation
import KiiPushCommandLine
import KiiPushCore
import KiiPushDesktop

struct RunReceiver: Sendable {
    enum Kind: Sendable {
        case outside(any OutsideHandler)
        /// A program with this library. `Presentation` shows its alerts. `endLeftovers` ends programs that an earlier
        /// run of the command left.
        case activator(Activator, Presentation?, endLeftovers: @Sendable () -> Void)
    }

    /// Shows a program's alerts unless the program is in the foreground.
    struct Presentation: Sendable {
        let lifecycle = AgentLifecycle(state: .background)
        let presenter: DesktopPresenter

        init(of program: String, _ whenUnavailable: @escaping @Sendable (DesktopServiceError) -> Void) {
            let name = program.split(separator: "/").last.map { String($0) } ?? program
            self.presenter = DesktopPresenter(
                configuration: .init(applicationName: name), whenUnavailable: whenUnavailable)
        }
    }

    private let kind: Kind
    let concurrency: Int
    let notes = MessageNotes()

    init(_ kind: Kind, concurrency: Int) { (self.kind, self.concurrency) = (kind, concurrency) }

    func agent(runtime: PushRuntime, configuration: PushAgent.Configuration) -> PushAgent {
        switch self.kind {
        case .outside(let outside):
            PushAgent(
                runtime: runtime, configuration: configuration,
                handler: OutsideBridge(outside: outside, notes: self.notes))
        case .activator(let activator, let presentation, _):
            PushAgent(
                runtime: runtime, configuration: configuration,
                handler: ActivatorBridge(activator: activator, notes: self.notes),
                lifecycle: presentation?.lifecycle, presenter: presentation?.presenter)
        }
    }

    func begin() {
        switch self.kind {
        case .outside(let outside): outside.begin()
        case .activator(let activator, _, let endLeftovers):
            activator.begin()
            endLeftovers()
        }
    }

    func stop() async {
        switch self.kind {
        case .outside(let outside): await outside.stop()
        case .activator(let activator, let presentation, _):
            await activator.stop()
            // Removes the alerts, because this process can no longer handle clicks. The next `kii-push run` shows them
            // again.
            presentation?.presenter.close()
        }
    }
}

extension Console {
    /// Shows an event of a handler's program. Does not block: a full queue drops the line.
    func show(_ event: Activator.Event) {
        let text = "program: \(event.description.terminalSafe)"
        switch event {
        case .started, .ended, .leftoverEnded: self.detail(text)
        case .startFailed, .terminated, .invalidAnswer, .processFileFailed: self.warning(text)
        }
    }
}

extension RunSettings {
    /// Creates the handler of the settings; `nil` if the settings name none. The closures run on threads that they must
    /// not block.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 for a missing program; ``TransportError``.
    func receiver(
        directory: String, report: @escaping @Sendable (Activator.Event) -> Void,
        whenUnpresentable: @escaping @Sendable (DesktopServiceError) -> Void
    ) throws -> RunReceiver? {
        let options = self.options
        if let outside = try self.outsideHandler(directory: directory, report: report) {
            return RunReceiver(.outside(outside), concurrency: options.handler.jobs?.value ?? 1)
        }
        guard let program = options.activate else { return nil }
        try ProgramLookup.require(program)
        var activation = Activator.Configuration(command: [program] + options.arguments)
        activation.sendsOutputToStandardError = true
        activation.withheldVariables = ChildEnvironment.withheld
        let grace = options.grace?.duration
        if let grace { activation.terminationGrace = grace }
        activation.processFile = LeftoverPrograms.file(1, in: directory)
        let presentation = options.present ? RunReceiver.Presentation(of: program, whenUnpresentable) : nil
        let activator = Activator(configuration: activation, lifecycle: presentation?.lifecycle, report: report)
        let endLeftovers = { @Sendable in
            LeftoverPrograms.end(in: directory, beyond: 1, grace: grace, report: report)
        }
        return RunReceiver(
            .activator(activator, presentation, endLeftovers: endLeftovers),
            concurrency: options.concurrency?.value ?? 1)
    }
}
