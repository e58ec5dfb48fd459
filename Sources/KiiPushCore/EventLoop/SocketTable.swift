/// Whose each watched socket is. Loop thread only.
final class SocketTable {
    enum Owner {
        /// libcurl connects it, or a transfer waits for it.
        case multi(EventedMulti)
        /// It is connected.
        case stream(SocketStream)
        /// No socket: it tells that the clocks have jumped.
        case alarm(ClockAlarm)
        /// Another library's.
        case guest(any DescriptorOwner)
    }

    private struct Watch {
        /// `nil` for nobody's for now: a connection that libcurl keeps for the next transfer, most likely to the same end.
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

    /// Lets go of every owner, who would else be kept alive by a table that they keep alive.
    func forgetAll() { self.watches = [:] }

    /// Lets go of `descriptor` if it is still libcurl's: a connected stream's is no longer its to take back. The kernel
    /// goes on watching it, which spares two calls a request. Should it have something to say meanwhile, it is
    /// forgotten then.
    func release(_ descriptor: Int32) {
        if case .multi = self.watches[descriptor]?.owner { self.watches[descriptor]?.owner = nil }
    }

    /// Sleeps until a socket is ready or somebody wakes the loop, `milliseconds` at most, and tells the owners.
    ///
    /// - Returns: how many were ready.
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
