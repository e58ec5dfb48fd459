import Glibc
import KiiPushCore

/// The callback that a thread runs. It decides for which functions the thread may wait.
enum Callback: Int {
    /// A handler has its own thread, and may wait for anything except the end of its own call.
    case handler = 1
    /// An observer may run on the library's only worker thread, and must not wait.
    case observer

    // Per thread, not per task: the mark shows whether a blocking function may block the thread that calls it.
    private static let key = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "pthread_key_create failed with \(code)")
        return key
    }()

    static var current: Callback? { Callback(rawValue: Int(bitPattern: pthread_getspecific(Callback.key))) }

    func run<Result>(_ body: () -> Result) -> Result {
        let outer = pthread_getspecific(Callback.key)
        pthread_setspecific(Callback.key, UnsafeRawPointer(bitPattern: self.rawValue))
        defer { pthread_setspecific(Callback.key, outer) }
        return body()
    }
}

/// Runs `body` in a task and waits for it. The calling thread must not be one of the pool that runs tasks.
func waiting<Value: Sendable>(
    _ function: String, _ body: @escaping @Sendable () async throws -> Value
) throws(CFailure) -> Value {
    guard Callback.current != .observer else { throw .callback(function) }
    let outcome = Monitor<Result<Value, any Error>?>(nil)
    Task {
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        outcome.withLock { $0 = result }
        outcome.signalAll()
    }
    switch outcome.wait({ $0.map { .leave($0) } ?? .sleep(until: nil) }) {
    case .success(let value): return value
    case .failure(let error): throw CFailure(error)
    }
}
