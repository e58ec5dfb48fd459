import CKiiPush
import Glibc
import KiiPushCore
import Synchronization

/// The process that opened the first runtime. Atomic, since a lock might stay locked for ever in a fork.
private let openingProcess = Atomic<pid_t>(0)

func claimProcess() {
    _ = openingProcess.compareExchange(expected: 0, desired: getpid(), ordering: .sequentiallyConsistent)
}

/// Throws in a fork, which has a copy of the runtime but none of its threads.
func requireOwnProcess() throws(CFailure) {
    let owner = openingProcess.load(ordering: .sequentiallyConsistent)
    guard owner == 0 || owner == getpid() else {
        throw CFailure(
            KII_PUSH_E_FORKED,
            "this process is a fork of the one that opened the runtime; fork before a runtime is opened, or exec")
    }
}

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

/// Returns `KII_PUSH_OK`, or a failure's code after writing the failure to `error`.
func answering(
    _ error: UnsafeMutablePointer<kii_push_error>?, _ body: () throws(CFailure) -> Void
) -> Int32 {
    do throws(CFailure) {
        try requireOwnProcess()
        try body()
        return Int32(KII_PUSH_OK.rawValue)
    } catch let failure {
        failure.write(to: error)
        return Int32(failure.code.rawValue)
    }
}
