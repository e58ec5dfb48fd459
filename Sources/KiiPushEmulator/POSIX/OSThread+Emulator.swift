import KiiPushCore

// Blocking work (on a child process, a socket, a file lock) has its own thread, since the cooperative pool must not
// block.

extension PollThread {
    func run(_ makeLoop: @escaping @Sendable () -> (any PollLoop<Message>)?) throws(EmulatorError) {
        do throws(SystemError) {
            try self.start(makeLoop)
        } catch {
            throw EmulatorError(error)
        }
    }
}

extension OSThread {
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
