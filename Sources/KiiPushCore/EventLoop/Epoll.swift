import CSystem
import Glibc

/// One epoll descriptor, level-triggered except for the loop's waker. Each entry's data is its own descriptor.
final class Epoll {
    typealias Interest = UInt32
    static let readable: Interest = EPOLLIN.rawValue
    static let writable: Interest = EPOLLOUT.rawValue
    static let halfClosed: Interest = EPOLLRDHUP.rawValue
    /// The kernel always reports these, epoll_ctl(2).
    static let broken: Interest = EPOLLERR.rawValue | EPOLLHUP.rawValue

    private var set: FileDescriptor
    private var events = [epoll_event](repeating: epoll_event(), count: 256)
    private var ready = 0
    private var waker: Waker?

    init() throws(TransportError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw Epoll.failure("epoll_create1") }
        self.set = FileDescriptor(descriptor)
    }

    /// Watches `descriptor` for `interest` from now on. `isNew` is a hint: a wrong one costs a second system call.
    func watch(_ descriptor: Int32, for interest: Interest, isNew: Bool) throws(TransportError) {
        var event = epoll_event(events: interest, data: epoll_data_t(fd: descriptor))
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        if epoll_ctl(self.set.number, first, descriptor, &event) == 0 { return }
        // Closing a descriptor silently removes it from the set, and libcurl may have closed it and opened it again.
        guard errno == EEXIST || errno == ENOENT,
            epoll_ctl(self.set.number, second, descriptor, &event) == 0
        else { throw Epoll.failure("epoll_ctl") }
    }

    /// Makes each wake-up end a wait from now on.
    func watch(_ waker: Waker) throws(TransportError) {
        // Edge-triggered: each wake-up counts once, and nobody has to read the descriptor.
        try self.watch(waker.descriptor, for: Epoll.readable | EPOLLET.rawValue, isNew: true)
        self.waker = waker
    }

    /// Stops watching `descriptor`.
    ///
    /// - Returns: `false` for a descriptor that is not in the set. A closed descriptor leaves the set by itself, unless
    ///   another process still holds it open. Then the kernel goes on reporting it, and only ``begin(anew:)`` helps,
    ///   epoll(7).
    @discardableResult
    func forget(_ descriptor: Int32) -> Bool { epoll_ctl(self.set.number, EPOLL_CTL_DEL, descriptor, nil) == 0 }

    /// Replaces the set by a new one that watches these descriptors and the waker. Does nothing if no descriptor is
    /// left for the new set.
    func begin(anew interests: [Int32: Interest]) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return }
        self.set = FileDescriptor(descriptor)
        // Descriptors that the kernel refuses are lost; their owners run into a time limit.
        if let waker { try? self.watch(waker) }
        for (descriptor, interest) in interests { try? self.watch(descriptor, for: interest, isNew: true) }
    }

    /// Waits until a descriptor is ready, at most `milliseconds`. Events beyond the array's size come with the next
    /// call.
    func wait(milliseconds: Int32) {
        self.ready = Int(max(0, epoll_wait(self.set.number, &self.events, Int32(self.events.count), milliseconds)))
    }

    /// Calls `body` for each event of the last wait, except wake-ups.
    func forEachReady(_ body: (_ descriptor: Int32, _ events: Interest) -> Void) {
        for event in self.events.prefix(self.ready) where event.data.fd != self.waker?.descriptor {
            body(event.data.fd, event.events)
        }
    }

    private static func failure(_ call: String) -> TransportError {
        TransportError(.other, detail: "\(call) failed: \(errorText(errno))")
    }
}
