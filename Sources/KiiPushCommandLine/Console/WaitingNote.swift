import KiiPushCore

/// Shows `waiting 3 s` on the terminal if a command has written nothing for a second. Output and the end of the command
/// erase the note.
package final class WaitingNote: Sendable {
    private struct State {
        var since = ContinuousClock.now
        var isShown = false
    }

    private let state = Locked(State())

    /// `nil` if standard error is no terminal that can erase a line.
    init?() {
        guard StandardStream.error.isTerminal, EnvironmentVariable.terminal.value != "dumb" else { return nil }
    }

    func erase() {
        self.state.withLock { state in
            state.since = .now
            guard state.isShown else { return }
            state.isShown = false
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
