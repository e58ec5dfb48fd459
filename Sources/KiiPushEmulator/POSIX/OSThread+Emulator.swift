import KiiPushCore

/// What blocks (on a child process, a socket, a file lock) runs on a thread of its own, never on the cooperative pool.
extension OSThread {
    /// Starts a thread; `name` is what `ps -L` shows (15 bytes at most).
    init(named name: String, _ body: @escaping @Sendable () -> Void) throws(EmulatorError) {
        do throws(SystemError) {
            try self.init(name: name, body)
        } catch {
            throw .system("start a thread", error.code)
        }
    }

    /// Runs `body` on a thread of its own and returns what it returns, so that the caller only suspends.
    static func run<Result: Sendable>(
        named name: String, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try OSThread(named: name) { continuation.resume(with: Swift.Result(catching: body)) }.detach()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
