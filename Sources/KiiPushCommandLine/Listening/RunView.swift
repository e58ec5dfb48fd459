package import KiiPushActivation
package import KiiPushCore

/// Shows the work of agents and their program, on the console and in the journal. An actor, so that lines come out in
/// order.
package actor RunView {
    private let console: Console
    private var view: EventView
    private let failed: @Sendable (any Error) -> Void
    private var isRead = true

    /// - Parameter failed: called when output fails.
    package init(
        console: Console, installationID: String, notes: MessageNotes, journal: Journal? = nil,
        failed: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.console = console
        self.view = EventView(.init(console: console), of: installationID, notes, journal: journal)
        self.failed = failed
    }

    /// Shows a notice, and waits until the output is read. A closed standard output ends nothing: messages are still
    /// handled, and standard error has its own reader.
    ///
    /// - Parameter agent: the notice's agent, in a fleet.
    package func show(_ notice: ControlNotice, of agent: String? = nil) async {
        do {
            try self.view.show(notice, of: agent)
            try await StandardStream.output.written()
        } catch SilentExit.brokenPipe {
            if self.isRead { self.console.warning("nobody reads the output any more; going on without it") }
            self.isRead = false
        } catch SilentExit.unreadOutput {
            // The command is ending.
        } catch {
            self.failed(error)
        }
    }

    package func showProgram(_ event: Activator.Event) {
        let text = "program: \(event.description.terminalSafe)"
        switch event {
        case .started, .ended, .leftoverEnded: self.console.detail(text)
        case .startFailed, .terminated, .misspoke, .processFileFailed: self.console.warning(text)
        }
    }
}
