import CMicroHTTPD
import Glibc

/// A thread that lives as long as its body runs.
///
/// What blocks (waiting for a child process, a socket, a file lock) runs on one of these and never on the cooperative
/// pool.
struct Thread: Sendable {
    private let handle: pthread_t

    /// Starts a thread; `name` is what `ps -L` shows (15 bytes at most).
    init(named name: String, _ body: @escaping @Sendable () -> Void) throws(EmulatorError) {
        var handle = pthread_t()
        let box = Unmanaged.passRetained(Body(name: name, run: body))
        let code = pthread_create(
            &handle,
            nil,
            { argument in
                guard let argument else { return nil }
                // Balances passRetained: the thread is the only one that takes the box.
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                pthread_setname_np(pthread_self(), body.name)
                body.run()
                return nil
            },
            box.toOpaque()
        )
        guard code == 0 else {
            box.release()
            throw .system("start a thread", code)
        }
        self.handle = handle
    }

    /// Waits until the body has returned. Called once.
    func join() {
        pthread_join(self.handle, nil)
    }

    /// Lets the thread go; nobody waits for it.
    func detach() {
        pthread_detach(self.handle)
    }

    /// Runs `body` on a thread of its own and returns what it returns, so that the caller only suspends.
    static func run<Result: Sendable>(
        named name: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try Thread(named: name) {
                    continuation.resume(with: Swift.Result(catching: body))
                }.detach()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }
}
