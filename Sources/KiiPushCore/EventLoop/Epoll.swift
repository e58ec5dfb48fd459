import CSystem
import Glibc

/// One epoll descriptor, level-triggered except for the waker. The data of each entry is its descriptor.
final class Epoll {
    typealias Interest = UInt32
    static let readable: Interest = EPOLLIN.rawValue
    static let writable: Interest = EPOLLOUT.rawValue
    static let halfClosed: Interest = EPOLLRDHUP.rawValue
    /// The kernel reports these in any case (epoll_ctl(2)).
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

    /// `isNew` is a hint: a wrong value costs a second system call.
    func watch(_ descriptor: Int32, for interest: Interest, isNew: Bool) throws(TransportError) {
        var event = epoll_event(events: interest, data: epoll_data_t(fd: descriptor))
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        if epoll_ctl(self.set.number, first, descriptor, &event) == 0 { return }
        // libcurl may have closed and reopened the descriptor. Closing removes a descriptor from the epoll set.
        guard errno == EEXIST || errno == ENOENT,
            epoll_ctl(self.set.number, second, descriptor, &event) == 0
        else { throw Epoll.failure("epoll_ctl") }
    }

    func watch(_ waker: Waker) throws(TransportError) {
        // Edge-triggered: each wake-up counts once, and no code has to read the descriptor.
        try self.watch(waker.descriptor, for: Epoll.readable | EPOLLET.rawValue, isNew: true)
        self.waker = waker
    }

    /// Stops watching `descriptor`. Returns `false` if the descriptor is not in the set.
    ///
    /// A closed descriptor leaves the set by itself, unless another process still holds it open. The kernel then keeps
    /// reporting it until ``begin(anew:)`` replaces the set (epoll(7)).
    @discardableResult
    func forget(_ descriptor: Int32) -> Bool { epoll_ctl(self.set.number, EPOLL_CTL_DEL, descriptor, nil) == 0 }

    /// Replaces the set by a new one. Does nothing if the process can open no descriptor.
    func begin(anew interests: [Int32: Interest]) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return }
        self.set = FileDescriptor(descriptor)
        // A descriptor that the kernel refuses is not watched. Its owner notices only at the owner's deadline, if any.
        if let waker { try? self.watch(waker) }
        for (descriptor, interest) in interests { try? self.watch(descriptor, for: interest, isNew: true) }
    }

    func wait(milliseconds: Int32) {
        self.ready = Int(max(0, epoll_wait(self.set.number, &self.events, Int32(self.events.count), milliseconds)))
    }

    func forEachReady(_ body: (_ descriptor: Int32, _ events: Interest) -> Void) {
        for event in self.events.prefix(self.ready) where event.data.fd != self.waker?.descriptor {
            body(event.data.fd, event.events)
        }
    }

    private static func failure(_ call: String) -> TransportError {
        TransportError(.other, detail: "\(call) failed: \(errorText(errno))")
    }
}
