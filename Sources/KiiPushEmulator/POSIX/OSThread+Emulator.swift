import KiiPushCore

// Work that blocks (on a child process, a socket, a file lock) has a thread of its own, never one of the cooperative
// pool.

extension PollThread {
    /// Starts the thread with a loop; see ``start(_:)``.
    func run(_ makeLoop: @escaping @Sendable () -> (any PollLoop<Message>)?) throws(EmulatorError) {
        do throws(SystemError) {
            try self.start(makeLoop)
        } catch {
            throw EmulatorError(error)
        }
    }
}

extension OSThread {
    /// Runs `body` on a thread of its own, so that the caller only suspends.
    static func run<Result: Sendable>(
        named name: String, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do throws(SystemError) {
                try OSThread(name: name) { continuation.resume(with: Swift.Result(catching: body)) }.detach()
            } catch {
                continuation.resume(throwing: EmulatorError(error))
            }
        }
    }
}
