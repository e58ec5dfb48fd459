import CSystem
import Glibc

/// Wakes a thread that sleeps in `poll` or in an epoll set. Its descriptor is an eventfd, which any thread can make
/// readable.
package final class Waker: Sendable {
    private let file: FileDescriptor

    package init() throws(SystemError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError("eventfd failed") }
        self.file = FileDescriptor(number)
    }

    package var descriptor: Int32 { self.file.number }

    package func wakeUp() { eventfd_write(self.descriptor, 1) }

    /// Makes the descriptor unreadable until the next wake-up. An edge-triggered epoll set does not need it: it reports
    /// changes of the count, which overflows only after 2^64 wake-ups.
    package func clear() {
        var count: eventfd_t = 0
        eventfd_read(self.descriptor, &count)
    }
}
