import CSystem
import Glibc

/// The watched descriptors and their owners, in one epoll descriptor. Level-triggered except for the waker. The data of
/// each entry is its descriptor.
final class Epoll {
    typealias Interest = UInt32
    static let readable: Interest = EPOLLIN.rawValue
    static let writable: Interest = EPOLLOUT.rawValue
    static let halfClosed: Interest = EPOLLRDHUP.rawValue
    /// The kernel reports these in any case (epoll_ctl(2)).
    static let broken: Interest = EPOLLERR.rawValue | EPOLLHUP.rawValue

    enum Owner {
        case multi(EventedMulti)
        case stream(SocketStream)
        case alarm(ClockAlarm)
        case guest(any DescriptorOwner)
    }

    private struct Watch {
        /// `nil` if the connection has no transfer at present; libcurl may reuse the connection.
        var owner: Owner?
        var interest: Interest
    }

    private var set: FileDescriptor
    private var events = [epoll_event](repeating: epoll_event(), count: 256)
    private let waker: Waker
    private var watches: [Int32: Watch] = [:]

    init(waker: Waker) throws(TransportError) {
        guard let set = Epoll.emptySet() else { throw Epoll.failure("epoll_create1") }
        self.set = set
        self.waker = waker
        try self.addWaker()
    }

    func watch(_ descriptor: Int32, for interest: Interest, owner: Owner) throws(TransportError) {
        let watch = Watch(owner: owner, interest: interest)
        let isNew = self.watches.updateValue(watch, forKey: descriptor) == nil
        try self.add(descriptor, for: interest, isNew: isNew)
    }

    func forget(_ descriptor: Int32) {
        guard self.watches.removeValue(forKey: descriptor) != nil else { return }
        epoll_ctl(self.set.number, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Owners hold this object, so this breaks a reference cycle.
    func forgetAll() { self.watches = [:] }

    /// Removes the owner if it is a `multi`. epoll keeps watching the descriptor, which saves two system calls a
    /// request. An event without an owner removes the descriptor from epoll.
    func release(_ descriptor: Int32) {
        if case .multi = self.watches[descriptor]?.owner { self.watches[descriptor]?.owner = nil }
    }

    func wait(milliseconds: Int32) {
        let ready = Int(max(0, epoll_wait(self.set.number, &self.events, Int32(self.events.count), milliseconds)))
        for event in self.events.prefix(ready) where event.data.fd != self.waker.descriptor {
            let descriptor = event.data.fd
            switch self.watches[descriptor]?.owner {
            case .stream(let stream): stream.socketReady(event.events)
            case .alarm(let alarm): alarm.acknowledge()
            case .guest(let owner): owner.descriptorReady()
            case .multi(let multi): multi.socketReady(descriptor, events: event.events)
            case nil: self.drop(descriptor)
            }
        }
    }
}

extension Epoll {
    private static func emptySet() -> FileDescriptor? {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        return descriptor >= 0 ? FileDescriptor(descriptor) : nil
    }

    /// `isNew` is a hint: a wrong value costs a second system call.
    private func add(_ descriptor: Int32, for interest: Interest, isNew: Bool) throws(TransportError) {
        var event = epoll_event(events: interest, data: epoll_data_t(fd: descriptor))
        let (first, second) = isNew ? (EPOLL_CTL_ADD, EPOLL_CTL_MOD) : (EPOLL_CTL_MOD, EPOLL_CTL_ADD)
        if epoll_ctl(self.set.number, first, descriptor, &event) == 0 { return }
        // libcurl may have closed and reopened the descriptor. Closing removes a descriptor from the epoll set.
        guard errno == EEXIST || errno == ENOENT,
            epoll_ctl(self.set.number, second, descriptor, &event) == 0
        else { throw Epoll.failure("epoll_ctl") }
    }

    /// Edge-triggered: each wake-up counts once, and no code has to read the descriptor.
    private func addWaker() throws(TransportError) {
        try self.add(self.waker.descriptor, for: Epoll.readable | EPOLLET.rawValue, isNew: true)
    }

    /// Stops watching a descriptor without an owner.
    ///
    /// A closed descriptor leaves the set by itself, unless another process still holds it open. The kernel then keeps
    /// reporting it until a new set replaces this one (epoll(7)). The set stays if the process can open no descriptor.
    private func drop(_ descriptor: Int32) {
        self.watches[descriptor] = nil
        if epoll_ctl(self.set.number, EPOLL_CTL_DEL, descriptor, nil) == 0 { return }
        guard let set = Epoll.emptySet() else { return }
        let former = self.set
        self.set = set
        guard (try? self.addWaker()) != nil else {
            // Without the waker, the loop could sleep for ever.
            self.set = former
            return
        }
        // A descriptor that the kernel refuses is not watched. Its owner notices only at the owner's deadline, if any.
        for (descriptor, watch) in self.watches { try? self.add(descriptor, for: watch.interest, isNew: true) }
    }

    private static func failure(_ call: String) -> TransportError {
        TransportError(.other, detail: "\(call) failed: \(errorText(errno))")
    }
}
