import CSystem
import Glibc

/// A thread of the operating system, for code that may block.
package struct OSThread: Sendable {
    private let handle: pthread_t

    /// - Throws: ``SystemError`` when the system gives no thread: the limit of the user or the container is reached, or
    ///   no memory is left for the stack.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                // Balances passRetained: the new thread owns its start.
                Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw SystemError(noThread: code)
        }
        self.handle = handle
    }

    /// Waits for the thread to end. Call it once, and not from the thread itself.
    package func join() { pthread_join(self.handle, nil) }
    package func detach() { pthread_detach(self.handle) }
}

extension SystemError {
    /// - Parameter code: the `errno` value that `pthread_create` returned.
    package init(noThread code: Int32) { self.init("no thread can be started", code: code) }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

    func run() {
        // The name shows in `ps -L` and in a debugger.
        csystem_name_thread(self.name)
        self.body()
    }
}
