import Glibc

/// A thread of the operating system, for code that may block.
package struct OSThread: Sendable {
    private let handle: pthread_t

    /// - Throws: ``ThreadError`` when the system gives none: the user's limit or the container's is reached, or no memory
    ///   is left for its stack.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(ThreadError) {
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
            throw ThreadError(code: code)
        }
        self.handle = handle
    }

    /// Waits until the thread has ended. Once, and not from the thread itself.
    package func join() { pthread_join(self.handle, nil) }
    package func detach() { pthread_detach(self.handle) }
}

package struct ThreadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What `pthread_create` returned, an `errno` value.
    package var code: Int32

    package var description: String { "no thread can be started: \(errorText(self.code))" }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

    func run() {
        // For people who look at it with `ps -L` or a debugger. Glibc shows pthread_setname_np to C with _GNU_SOURCE alone;
        // the file does the same. A thread without a name works as well, so failing is right here.
        let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        if descriptor >= 0 {
            // Linux keeps 15 bytes.
            let name = self.name.utf8.prefix(15)
            _ = name.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
        }
        self.body()
    }
}
