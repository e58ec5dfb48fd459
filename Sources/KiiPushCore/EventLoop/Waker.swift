import CCurl
import Glibc

/// What interrupts the loop's sleep from any thread: an eventfd in the loop's epoll set.
final class Waker: Sendable {
    let descriptor: Int32

    init() throws(TransportError) {
        self.descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard self.descriptor >= 0 else {
            throw TransportError(.other, detail: "eventfd failed: \(errorText(errno))")
        }
    }

    deinit { close(self.descriptor) }

    func wakeUp() {
        // Nobody reads it: the epoll set looks at changes, not at the count, which would be full after 2^64 wake-ups.
        eventfd_write(self.descriptor, 1)
    }
}
