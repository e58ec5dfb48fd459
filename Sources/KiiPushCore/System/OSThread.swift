import CSystem
import Glibc

/// A thread of the operating system, for code that may block.
package struct OSThread: Sendable {
    private let handle: pthread_t

    /// - Throws: ``SystemError`` when the system gives no thread: the user's limit or the container's is reached, or no
    ///   memory is left for the stack.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                // Balances passRetained: the thread that runs owns its start.
                Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw SystemError(noThread: code)
        }
        self.handle = handle
    }

    /// Waits until the thread has ended. Once, and not from the thread itself.
    package func join() { pthread_join(self.handle, nil) }
    package func detach() { pthread_detach(self.handle) }
}

extension SystemError {
    /// - Parameter code: the result of `pthread_create`, an `errno` value.
    package init(noThread code: Int32) { self.init("no thread can be started", code: code) }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

    func run() {
        // For people who look at it with `ps -L` or a debugger.
        csystem_name_thread(self.name)
        self.body()
    }
}
