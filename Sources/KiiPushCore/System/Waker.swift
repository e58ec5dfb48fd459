import CSystem
import Glibc

/// Wakes a thread that waits in poll or epoll. Any thread can make its descriptor, an eventfd, readable.
package final class Waker: Sendable {
    private let file: FileDescriptor

    package init() throws(SystemError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError("eventfd failed") }
        self.file = FileDescriptor(number)
    }

    package var descriptor: Int32 { self.file.number }

    package func wakeUp() { eventfd_write(self.descriptor, 1) }

    /// Makes the descriptor unreadable until the next wake-up. Edge-triggered epoll does not need this call: each
    /// wake-up is a new event.
    package func clear() {
        var count: eventfd_t = 0
        eventfd_read(self.descriptor, &count)
    }
}
