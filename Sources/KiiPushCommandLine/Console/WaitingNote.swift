import KiiPushCore

/// `waiting 3 s` on a person's terminal while a command has nothing to say for longer than a second. It is gone again when
/// there is something, or when the command ends.
package final class WaitingNote: Sendable {
    private struct State {
        var since = ContinuousClock.now
        var isShown = false
    }

    private let state = Locked(State())

    /// `nil` where nobody could see it, or it could not be taken back.
    package init?(_ options: Console.Options) {
        guard !options.json, !options.quiet, StandardStream.error.isTerminal,
            EnvironmentVariable.terminal.value != "dumb"
        else { return nil }
    }

    /// Takes it back; the time begins anew.
    func erase() {
        self.state.withLock { state in
            state.since = .now
            guard state.isShown else { return }
            state.isShown = false
            // Where standard error cannot be written to, it is not shown either.
            StandardStream.error.say(Self.lineStart)
        }
    }

    package func run() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil { self.show() }
    }

    private func show() {
        // The line is written with the lock held, so that none comes after the one that erases it.
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
    /// Runs what may take its time, and tells a person that it does.
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
