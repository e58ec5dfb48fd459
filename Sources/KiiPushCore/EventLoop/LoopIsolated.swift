import Synchronization

/// A value that stays on a loop's thread, and the claim to it, which may travel.
///
/// Reaching for the value on any other thread is a programmer error and traps. What ``value`` returns is for the loop's
/// thread alone; who reads it there does not hand it on. The value is let go of on that thread: in a turn that follows
/// when the claim is gone, or when the loop ends.
package final class LoopIsolated<Value>: Sendable {
    private let key = LoopKey()
    private let queue: CommandQueue

    /// Keeps `value`. On the loop's thread, in one of its turns; programmer error elsewhere.
    package init(confining value: Value, to loop: EventLoop) {
        self.queue = loop.queue
        loop.live.values[self.key] = value
    }

    deinit {
        // When the queue takes nothing more, the loop lets go of everything.
        _ = self.queue.append { [key = self.key] in LoopCore.current?.values.removeValue(forKey: key) }
    }

    /// The value; on the loop's thread only.
    package var value: Value {
        guard let value = LoopCore.current?.values[self.key] as? Value else {
            preconditionFailure("a value of the event loop was touched off the loop's thread, or after its end")
        }
        return value
    }
}

/// Names a value in all loops of the process.
struct LoopKey: Hashable, Sendable {
    private static let last = Atomic<UInt64>(0)
    private let number = LoopKey.last.wrappingAdd(1, ordering: .relaxed).newValue
}
