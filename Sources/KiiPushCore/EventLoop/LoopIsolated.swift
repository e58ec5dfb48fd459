/// A value that lives on a loop's thread, in a box that may travel.
///
/// Reaching for the value on any other thread is a programmer error and traps. What ``value`` returns is for the loop's
/// thread alone; who reads it there does not hand it on.
package final class LoopIsolated<Value>: Sendable {
    // Safe: read and written through `value` alone, which traps unless it runs on the loop's one thread, so accesses never
    // overlap. The initialisers either take the value out of everyone else's reach (`sending`) or run on that thread. The
    // box may be let go of anywhere: what it held is then in nobody's hands or still kept alive by the loop's own.
    private nonisolated(unsafe) var storage: Value  // Safe: touched on the loop's one thread alone, or it traps
    private let thread: LoopThread

    /// Boxes a value that nobody else can reach.
    package convenience init(_ value: sending Value, on loop: EventLoop) {
        self.init(value, on: loop.thread)
    }

    /// Boxes a value of the loop thread's own. Programmer error on another thread.
    package init(confining value: Value, to loop: EventLoop) {
        precondition(loop.thread.isCurrent, "LoopIsolated(confining:) is for the loop's thread")
        self.storage = value
        self.thread = loop.thread
    }

    init(_ value: sending Value, on thread: LoopThread) {
        self.storage = value
        self.thread = thread
    }

    /// The value; on the loop's thread only.
    package var value: Value {
        get {
            self.preconditionIsolated()
            return self.storage
        }
        set {
            self.preconditionIsolated()
            self.storage = newValue
        }
        _modify {
            self.preconditionIsolated()
            yield &self.storage
        }
    }

    private func preconditionIsolated() {
        precondition(self.thread.isCurrent, "a value of the event loop was touched off the loop's thread")
    }
}
