/// Whose each watched socket is. Loop thread only.
final class SocketTable {
    enum Owner {
        /// libcurl is connecting it.
        case group(StreamGroup)
        /// It is connected.
        case stream(ByteStream)
    }

    let epoll: Epoll
    private var owners: [Int32: Owner] = [:]

    init() throws(TransportError) {
        self.epoll = try Epoll()
    }

    func owner(of descriptor: Int32) -> Owner? {
        self.owners[descriptor]
    }

    func watch(_ descriptor: Int32, for interest: Epoll.Interest, owner: Owner) throws(TransportError) {
        let isNew = self.owners.updateValue(owner, forKey: descriptor) == nil
        try self.epoll.watch(descriptor, for: interest, isNew: isNew)
    }

    func forget(_ descriptor: Int32) {
        guard self.owners.removeValue(forKey: descriptor) != nil else { return }
        self.epoll.forget(descriptor)
    }

    /// Forgets `descriptor` if it is still libcurl's: a connected socket is no longer its to take back.
    func forgetConnecting(_ descriptor: Int32) {
        if case .group = self.owners[descriptor] { self.forget(descriptor) }
    }
}
