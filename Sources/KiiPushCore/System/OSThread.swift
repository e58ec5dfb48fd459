import CSystem
import Glibc

package struct OSThread: Sendable {
    private let handle: pthread_t

    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw SystemError(noThread: code)
        }
        self.handle = handle
    }

    /// Blocks until the thread has ended. Call it once, from another thread.
    package func join() { pthread_join(self.handle, nil) }
    package func detach() { pthread_detach(self.handle) }
}

extension SystemError {
    package init(noThread code: Int32) { self.init("no thread can be started", code: code) }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

    func run() {
        csystem_name_thread(self.name)
        self.body()
    }
}
