import Glibc
import Testing

@testable import KiiPushCore

@Suite struct EpollTests {
    private func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func aDescriptorThatAnotherProcessKeepsOpenIsReportedOnce() throws {
        let epoll = try Epoll(waker: try Waker())
        let alarm = try #require(ClockAlarm())
        let (lost, lostPeer) = try self.pair()
        let (watched, watchedPeer) = try self.pair()
        try epoll.watch(lost, for: Epoll.readable, owner: .alarm(alarm))
        epoll.forgetAll()
        try epoll.watch(watched, for: Epoll.readable, owner: .alarm(alarm))
        // The copy simulates a program that was started meanwhile and inherited the socket: closed here, but still open
        // there.
        let inherited = dup(lost)
        close(lost)
        #expect(send(lostPeer, [1], 1, 0) == 1)
        #expect(epoll.wait(milliseconds: 0) == 1)
        #expect(epoll.wait(milliseconds: 0) == 0)
        #expect(send(watchedPeer, [1], 1, 0) == 1)
        #expect(epoll.wait(milliseconds: 0) == 1)
        for descriptor in [lostPeer, watched, watchedPeer, inherited] { close(descriptor) }
    }

    @Test func anAcceptedSocketDoesNotWaitAndIsInheritedByNobody() throws {
        let listener = try #require(FileDescriptor(socket: AF_UNIX))
        // The kernel chooses the address.
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var length = socklen_t(MemoryLayout<sa_family_t>.size)
        let client = try #require(FileDescriptor(socket: AF_UNIX))
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                #expect(bind(listener.number, address, length) == 0)
                #expect(listen(listener.number, 1) == 0)
                length = socklen_t(MemoryLayout<sockaddr_un>.size)
                #expect(getsockname(listener.number, address, &length) == 0)
                #expect(connect(client.number, address, length) == 0)
            }
        }
        let accepted = try #require(listener.accept())
        #expect(fcntl(accepted.number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(accepted.number, F_GETFL) & O_NONBLOCK != 0)
    }
}
