import KiiPushCore

/// `waiting 3 s` on a person's terminal when a command has written nothing for longer than a second. Output erases it,
/// and so does the end of the command.
package final class WaitingNote: Sendable {
    private struct State {
        var since = ContinuousClock.now
        var isShown = false
    }

    private let state = Locked(State())

    /// `nil` without a terminal that could show and erase it.
    package init?(_ options: Console.Options) {
        guard !options.json, !options.quiet, StandardStream.error.isTerminal,
            EnvironmentVariable.terminal.value != "dumb"
        else { return nil }
    }

    /// Erases the note and restarts its time.
    func erase() {
        self.state.withLock { state in
            state.since = .now
            guard state.isShown else { return }
            state.isShown = false
            // If standard error cannot be written to, the note is not visible either.
            StandardStream.error.say(Self.lineStart)
        }
    }

    package func run() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil { self.show() }
    }

    private func show() {
        // Under the lock, so that no note is written after its erasure.
        self.state.withLock { state in
            let silence = ContinuousClock.now - state.since
            guard !Task.isCancelled, silence >= .seconds(1) else { return }
            state.isShown = true
            StandardStream.error.say("\(Self.lineStart)waiting \(silence.text)   ^C to quit")
        }
    }

    /// ECMA-48: CARRIAGE RETURN, ERASE IN LINE.
    private static let lineStart = "\r\u{1b}[K"
}

extension Console {
    /// Runs `body`, and shows a waiting note meanwhile.
    package func waiting<Result>(for body: () async throws -> Result) async rethrows -> Result {
        guard let note = self.note else { return try await body() }
        note.erase()
        let showing = Task { await note.run() }
        defer {
            showing.cancel()
            note.erase()
        }
        return try await body()
    }
}
