import Synchronization

/// A value confined to a loop's thread, behind a handle that any thread may hold.
///
/// Reading ``value`` on another thread is a programmer error and traps. Do not pass the value to another thread. The
/// loop releases the value on its thread after the handle is released, or when the loop ends.
package final class LoopIsolated<Value>: Sendable {
    private let key = LoopKey()
    private let queue: CommandQueue

    /// Call this on the loop's thread; anything else is a programmer error.
    package init(confining value: Value, to loop: EventLoop) {
        self.queue = loop.queue
        loop.live.values[self.key] = value
    }

    deinit {
        // A closed queue drops the command. The ending loop releases all values.
        _ = self.queue.append { [key = self.key] in LoopCore.current?.values.removeValue(forKey: key) }
    }

    package var value: Value {
        guard let value = LoopCore.current?.values[self.key] as? Value else {
            preconditionFailure("a value of the event loop was touched off the loop's thread, or after its end")
        }
        return value
    }
}

struct LoopKey: Hashable, Sendable {
    private static let last = Atomic<UInt64>(0)
    private let number = LoopKey.last.wrappingAdd(1, ordering: .relaxed).newValue
}
