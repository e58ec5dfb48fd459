import Glibc
import KiiPushCommandLine
import KiiPushCore

/// Runs the sessions of `kii-push run`, one after another. Each reload begins a new session. Owns the watchdog, the
/// notifier and the journal, which outlive a session.
final class RunService: Sendable {
    private enum Event: Sendable {
        case stop(signal: Int32)
        case reload
        case tellState
        case ended(session: Int, (any Error)?)
        case failed(any Error)
        case offline(session: Int, limit: Duration)
    }

    let console: Console
    private let notifier: ServiceNotifier
    private let journal: Journal?
    private let watchdog: Watchdog
    private let begun = ContinuousClock.now
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init(console: Console) {
        self.console = console
        self.notifier = ServiceNotifier(path: EnvironmentVariable.notifySocket.text)
        self.journal = Journal.connected(stream: EnvironmentVariable.journalStream.text)
        self.watchdog = Watchdog(
            self.notifier, microseconds: EnvironmentVariable.watchdogMicroseconds.text,
            processID: EnvironmentVariable.watchdogProcess.text, ownProcessID: getpid())
        (self.events, self.continuation) = AsyncStream.makeStream()
    }

    func view(installationID: String, _ notes: MessageNotes) -> RunView {
        RunView(
            console: self.console, installationID: installationID, notes: notes, journal: self.journal,
            failed: { [continuation] in continuation.yield(.failed($0)) })
    }

    func status(_ number: Int, installationID: String, offlineLimit: Duration?) -> RunStatus {
        RunStatus(installationID: installationID, notifier: self.notifier, limit: offlineLimit) { [continuation] in
            continuation.yield(.offline(session: number, limit: offlineLimit ?? .zero))
        }
    }

    /// Runs until a signal, a failure or the end of the session.
    ///
    /// - Parameters:
    ///   - first: the session with number 1.
    ///   - reload: makes a session from the current files without starting it. The argument is the session's number.
    /// - Throws: the failure; ``SilentExit`` after a signal; ``CommandFailure`` with exit 69 if offline for too long.
    func run(_ first: RunSession, _ signals: StopSignals, reload: (Int) async throws -> RunSession) async throws {
        let relays = [
            Task { [continuation] in
                if let number = await signals.next() { continuation.yield(.stop(signal: number)) }
            },
            Task { [continuation] in
                for await number in signals.asks {
                    switch number {
                    case SIGHUP: continuation.yield(.reload)
                    case SIGUSR1: continuation.yield(.tellState)
                    default: break
                    }
                }
            },
            Task { [watchdog, console] in
                await watchdog.feed { complaint in
                    if let complaint {
                        console.warning("the watchdog is not fed: \(complaint)")
                    } else {
                        console.status("> The watchdog is fed again.")
                    }
                }
            },
        ]
        defer { for relay in relays { relay.cancel() } }
        try await self.run(first, reload: reload)
    }

    func run(_ first: RunSession, reload: (Int) async throws -> RunSession) async throws {
        var number = 1
        var running = self.start(first, number)
        for await event in self.events {
            switch event {
            case .stop(let signal):
                if let text = running.session.receiver.notes.waitingText(running.session.shutdownGrace) {
                    self.console.status(text)
                }
                if let error = await self.end(running) { throw error }
                throw SilentExit.status(.afterStop(signal: signal))
            case .failed(let error):
                // An error of the stop may be only a consequence of this error.
                _ = await self.end(running)
                throw error
            case .offline(session: number, limit: let limit):
                let text = running.session.status.connection.text
                // The session's own error, such as a full disk, may be why there was no connection.
                if let error = await self.end(running) { throw error }
                throw CommandFailure(.unreachable, "there was no connection for \(limit.text); last state: \(text)")
            case .ended(session: number, let error):
                self.notifier.stopping()
                if let error { throw error }
                return
            // From an earlier session, which a reload has ended.
            case .offline, .ended: continue
            case .tellState: self.tellState(of: running.session)
            case .reload:
                guard let next = await self.prepare(number + 1, reload) else { continue }
                // The error is dropped: unless the reload has removed its cause, the new session meets it again.
                _ = await self.end(running, isLast: false)
                number += 1
                running = self.start(next, number)
                self.console.status("> Reloaded.")
            }
        }
    }

    private typealias Running = (session: RunSession, task: Task<(any Error)?, Never>)

    /// - Parameter number: 1 for the first session. Later sessions wait if another process has locked the directory for
    ///   a moment.
    private func start(_ session: RunSession, _ number: Int) -> Running {
        let limits = Watchdog.Limits(grace: session.settings.options.grace?.duration)
        self.watchdog.begin(
            .init([session.agent], limits: limits, overdue: { [notes = session.receiver.notes] in notes.overdue() }) {
                [status = session.status] in status.connection.text
            })
        let task = Task { [continuation] in
            let error = await session.receive(patience: number == 1 ? .zero : .seconds(10))
            continuation.yield(.ended(session: number, error))
            return error
        }
        return (session, task)
    }

    private func end(_ running: Running, isLast: Bool = true) async -> (any Error)? {
        if isLast { self.notifier.stopping() }
        running.session.status.endWait()
        self.watchdog.end()
        running.task.cancel()
        return await running.task.value
    }

    /// Creates the next session. Returns `nil` after a failure; the present session then continues.
    private func prepare(_ number: Int, _ reload: (Int) async throws -> RunSession) async -> RunSession? {
        self.notifier.reloading()
        do {
            return try await reload(number)
        } catch {
            let failure = CommandFailure(describing: error)
            let text = "not reloaded: \(failure.message.terminalSafe)"
            self.console.warning("\(text); going on as before")
            self.notifier.reloadFailed(text)
            return nil
        }
    }

    private func tellState(of session: RunSession) {
        // A separate task, because the session's answer may take long.
        Task { [begun] in
            let state = await session.state(since: begun, processID: getpid())
            StandardStream.error.say(state.terminalText + "\n")
        }
    }
}
