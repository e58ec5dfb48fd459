final class SocketTable {
    enum Owner {
        case multi(EventedMulti)
        case stream(SocketStream)
        case alarm(ClockAlarm)
        case guest(any DescriptorOwner)
    }

    private struct Watch {
        /// `nil` if the connection has no transfer at present; libcurl may reuse the connection.
        var owner: Owner?
        var interest: Epoll.Interest
    }

    private let epoll: Epoll
    private var watches: [Int32: Watch] = [:]

    init(waker: Waker) throws(TransportError) {
        self.epoll = try Epoll()
        try self.epoll.watch(waker)
    }

    func watch(_ descriptor: Int32, for interest: Epoll.Interest, owner: Owner) throws(TransportError) {
        let watch = Watch(owner: owner, interest: interest)
        let isNew = self.watches.updateValue(watch, forKey: descriptor) == nil
        try self.epoll.watch(descriptor, for: interest, isNew: isNew)
    }

    func forget(_ descriptor: Int32) {
        guard self.watches.removeValue(forKey: descriptor) != nil else { return }
        self.epoll.forget(descriptor)
    }

    /// Owners hold the table, so this breaks a reference cycle.
    func forgetAll() { self.watches = [:] }

    /// Removes the owner if libcurl still owns the descriptor. epoll keeps watching the descriptor, which saves two
    /// system calls a request. An event without an owner removes the descriptor from epoll.
    func release(_ descriptor: Int32) {
        if case .multi = self.watches[descriptor]?.owner { self.watches[descriptor]?.owner = nil }
    }

    @discardableResult
    func wait(milliseconds: Int32) -> Int {
        self.epoll.wait(milliseconds: milliseconds)
        var count = 0
        self.epoll.forEachReady { descriptor, events in
            count += 1
            switch self.watches[descriptor]?.owner {
            case .stream(let stream): stream.socketReady(events)
            case .alarm(let alarm): alarm.acknowledge()
            case .guest(let owner): owner.descriptorReady()
            case .multi(let multi): multi.socketReady(descriptor, events: events)
            case nil:
                self.watches[descriptor] = nil
                if !self.epoll.forget(descriptor) { self.epoll.begin(anew: self.watches.mapValues(\.interest)) }
            }
        }
        return count
    }
}
