package import KiiPushActivation
package import KiiPushCore

/// Shows what agents and their program go through: on the console, and in the journal. An actor, so that lines come out one
/// after the other.
package actor RunView {
    private let console: Console
    private var view: EventView
    private let failed: @Sendable (any Error) -> Void
    private var isRead = true

    /// - Parameter failed: told that nothing can be shown any more.
    package init(
        console: Console, installationID: String, notes: MessageNotes, journal: Journal? = nil,
        failed: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.console = console
        self.view = EventView(.init(console: console), of: installationID, notes, journal: journal)
        self.failed = failed
    }

    /// Shows it, and waits until it is read. That the reader of standard output has gone away ends nothing: messages are
    /// handled all the same, and standard error has its own reader.
    ///
    /// - Parameter agent: of a fleet the one that it happened to.
    package func show(_ notice: ControlNotice, of agent: String? = nil) async {
        do {
            try self.view.show(notice, of: agent)
            try await StandardStream.output.written()
        } catch is BrokenPipe {
            if self.isRead { self.console.warning("nobody reads the output any more; going on without it") }
            self.isRead = false
        } catch is UnreadOutput {
            // It is to end.
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
