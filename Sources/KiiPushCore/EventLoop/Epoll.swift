import CSystem
import Glibc

/// One epoll descriptor, level-triggered but for the loop's waker. Each entry carries its own descriptor as its data.
final class Epoll {
    typealias Interest = UInt32
    static let readable: Interest = EPOLLIN.rawValue
    static let writable: Interest = EPOLLOUT.rawValue
    static let halfClosed: Interest = EPOLLRDHUP.rawValue
    /// Reported whether asked for or not, epoll_ctl(2).
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

    /// Watches `descriptor` for `interest` from now on, whether or not it was watched before.
    func watch(_ descriptor: Int32, for interest: Interest, isNew: Bool) throws(TransportError) {
        var event = epoll_event(events: interest, data: epoll_data_t(fd: descriptor))
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        if epoll_ctl(self.set.number, first, descriptor, &event) == 0 { return }
        // Closing a descriptor takes it out of the set unseen, and libcurl may have closed one and got it again.
        guard errno == EEXIST || errno == ENOENT,
            epoll_ctl(self.set.number, second, descriptor, &event) == 0
        else { throw Epoll.failure("epoll_ctl") }
    }

    /// Ends a wait at each wake-up from now on.
    func watch(_ waker: Waker) throws(TransportError) {
        // Edge-triggered: each wake-up counts once and nothing has to be read.
        try self.watch(waker.descriptor, for: Epoll.readable | EPOLLET.rawValue, isNew: true)
        self.waker = waker
    }

    /// Watches `descriptor` no longer.
    ///
    /// - Returns: false for one that is not in the set. One that is closed has left by itself, as long as no other process
    ///   has it too: then the kernel goes on reporting it, and only ``begin(anew:)`` helps, epoll(7).
    @discardableResult
    func forget(_ descriptor: Int32) -> Bool { epoll_ctl(self.set.number, EPOLL_CTL_DEL, descriptor, nil) == 0 }

    /// Puts another set in the place of this one, which watches these descriptors and the waker. Without a descriptor for
    /// it everything stays as it is.
    func begin(anew interests: [Int32: Interest]) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return }
        self.set = FileDescriptor(descriptor)
        // What the kernel refuses is gone, and whoever waits for it runs into a time limit.
        if let waker { try? self.watch(waker) }
        for (descriptor, interest) in interests { try? self.watch(descriptor, for: interest, isNew: true) }
    }

    /// Waits until something is ready, `milliseconds` at most. What does not fit is reported next time.
    func wait(milliseconds: Int32) {
        self.ready = Int(max(0, epoll_wait(self.set.number, &self.events, Int32(self.events.count), milliseconds)))
    }

    /// Calls `body` for what the last wait found, wake-ups left out.
    func forEachReady(_ body: (_ descriptor: Int32, _ events: Interest) -> Void) {
        for event in self.events.prefix(self.ready) where event.data.fd != self.waker?.descriptor {
            body(event.data.fd, event.events)
        }
    }

    private static func failure(_ call: String) -> TransportError {
        TransportError(.other, detail: "\(call) failed: \(errorText(errno))")
    }
}
