package import KiiPushCore

/// Shows events of agents on the console. Outcomes of messages go to the journal too, if there is one. An actor, because
/// a session passes it to the task that shows events.
package actor RunView {
    private let console: Console
    private var view: EventView
    private let failed: @Sendable (any Error) -> Void
    private var isRead = true

    package init(
        console: Console, installationID: String, notes: MessageNotes, journal: Journal? = nil,
        failed: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.console = console
        self.view = EventView(.init(console: console), of: installationID, notes, journal: journal)
        self.failed = failed
    }

    /// Shows a notice, and waits until the output is written. If standard output is closed, messages are still handled,
    /// and standard error is still written.
    package func show(_ notice: ControlNotice, of agent: String? = nil) async {
        do {
            try self.view.show(notice, of: agent)
            try await StandardStream.output.written()
        } catch SilentExit.brokenPipe {
            if self.isRead { self.console.warning("nobody reads the output any more; going on without it") }
            self.isRead = false
        } catch SilentExit.unreadOutput {
        } catch {
            self.failed(error)
        }
    }
}
