import KiiPushActivation
import KiiPushCore
import KiiPushDesktop

/// Who handles the messages of `run`.
struct RunReceiver: Sendable {
    enum Kind: Sendable {
        case outside(any OutsideHandler)
        /// A program with this library. The presentation shows its alerts; `endLeftovers` ends orphans of an earlier
        /// run.
        case activator(Activator, Presentation?, endLeftovers: @Sendable () -> Void)
    }

    /// Shows a program's alerts while the user does not have the program in front.
    struct Presentation: Sendable {
        let lifecycle = AgentLifecycle(state: .background)
        let presenter: DesktopPresenter

        /// - Parameter program: its path; the user sees the file's name.
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
            // Nobody is there to be told of a click; the next run shows the alerts again.
            presentation?.presenter.close()
        }
    }
}
