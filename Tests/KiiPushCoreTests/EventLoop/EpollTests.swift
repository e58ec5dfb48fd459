import Glibc
import Testing

@testable import KiiPushCore

@Suite struct EpollTests {
    private final class Reader: DescriptorOwner {
        private(set) var count = 0

        func descriptorReady() { self.count += 1 }
    }

    private func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func aDescriptorThatAnotherProcessKeepsOpenIsNotReportedToTheNextOwner() throws {
        let epoll = try Epoll(waker: try Waker())
        let (former, watching, next) = (Reader(), Reader(), Reader())
        let (lost, lostPeer) = try self.pair()
        let (watched, watchedPeer) = try self.pair()
        let (fresh, freshPeer) = try self.pair()
        try epoll.watch(lost, for: Epoll.readable, owner: .guest(former))
        epoll.forgetAll()
        try epoll.watch(watched, for: Epoll.readable, owner: .guest(watching))
        // The copy simulates a program that was started meanwhile and inherited the socket: closed here, but still open
        // there.
        let inherited = dup(lost)
        // Closes the socket, and gives its number to another.
        #expect(dup2(fresh, lost) == lost)
        #expect(send(lostPeer, [1], 1, 0) == 1)
        // The event has no owner.
        epoll.wait(milliseconds: 0)
        try epoll.watch(lost, for: Epoll.readable, owner: .guest(next))
        #expect(send(watchedPeer, [1], 1, 0) == 1)
        epoll.wait(milliseconds: 0)
        #expect([former.count, watching.count, next.count] == [0, 1, 0])
        #expect(send(freshPeer, [1], 1, 0) == 1)
        epoll.wait(milliseconds: 0)
        #expect(next.count == 1)
        for descriptor in [lost, lostPeer, watched, watchedPeer, fresh, freshPeer, inherited] { close(descriptor) }
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
