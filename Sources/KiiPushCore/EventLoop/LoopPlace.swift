import Glibc

/// What a loop's thread knows of itself: whose thread it is, and the core as long as there is one.
final class LoopPlace {
    /// The loop's own, by which it knows its thread.
    let queue: CommandQueue
    private(set) var core: LoopCore?

    init(of core: LoopCore, queue: CommandQueue) {
        self.core = core
        self.queue = queue
    }

    /// The place of this thread; `nil` on a thread that is no loop's.
    static var current: LoopPlace? {
        pthread_getspecific(LoopPlace.slot).map { Unmanaged<LoopPlace>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let slot: pthread_key_t = {
        var slot = pthread_key_t()
        let code = pthread_key_create(&slot, nil)
        precondition(code == 0, "pthread_key_create failed with \(code)")
        return slot
    }()

    /// The life of the loop's thread.
    ///
    /// The place is ``current`` until the core has been let go of: what ends with the core may ask whether this is the
    /// loop's thread, and a loop that is let go of there must not wait for its own thread.
    func live() {
        let code = pthread_setspecific(LoopPlace.slot, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == 0, "pthread_setspecific failed with \(code)")
        self.core?.run()
        let core = self.core
        self.core = nil
        _ = consume core
        pthread_setspecific(LoopPlace.slot, nil)
    }
}
