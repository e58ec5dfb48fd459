import KiiPushCommandLine
import KiiPushCore

/// Shows the messages and events of another process that receives with the inbox. That process answers the messages.
actor AttachedListening {
    private var notices: ControlNotices
    private var view: EventView
    private let style: EventView.Style
    private let directory: String
    private let count: Int?
    var completedCount: Int { self.view.completedCount }

    /// The longest wait for the next process that receives. A service manager pauses before a restart.
    private static let patience = Duration.seconds(15)

    /// Attaches to the process that receives. Later events wait for ``run(timeout:)``; beyond 1 MiB they are only
    /// counted.
    init(
        _ client: ControlClient, directory: String, _ style: EventView.Style, installationID: String, count: Int?
    ) throws {
        self.notices = try client.watch()
        self.view = EventView(style, of: installationID, isWatching: true, count: count)
        self.style = style
        self.directory = directory
        self.count = count
    }

    nonisolated func run(timeout: Duration?) async throws -> ListenEnding {
        let signals = try StopSignals.ofCommand()
        return await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask { await self.show() }
            group.addTask { await signals.next().map { .signal($0) } }
            if let timeout {
                group.addTask { (try? await Task.sleep(for: timeout)).map { .timedOut } }
            }
            defer { group.cancelAll() }
            for await ending in group {
                if let ending { return ending }
            }
            return .stopped
        }
    }

    private func show() async -> ListenEnding? {
        do {
            repeat {
                for await notice in self.notices {
                    try self.view.show(notice)
                    try await self.style.written()
                    if let count, self.completedCount >= count { return .counted }
                }
                try Task.checkCancellation()
            } while try await self.findSuccessor()
            return .stopped
        } catch is CancellationError {
            return nil
        } catch {
            return .failed(error)
        }
    }

    /// Waits for the next process that receives, such as a restarted service. Returns whether it appeared.
    private func findSuccessor() async throws -> Bool {
        let console = self.style.console
        console.status(
            "> It does not receive any more; waiting \(Self.patience.text) for it, or another, to begin anew.")
        let end = ContinuousClock.now + Self.patience
        repeat {
            do {
                if let client = try ControlClient(stateDirectory: self.directory) {
                    self.notices = try client.watch()
                    self.view.receiverChanged()
                    console.status("> It receives again. 'kii-push inbox list' has what came meanwhile.")
                    return true
                }
            } catch InboxAccessError.ended, InboxAccessError.silent {
            }
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < end
        return false
    }
}
