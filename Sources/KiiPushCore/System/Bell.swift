import Glibc

/// Wakes a thread that waits for the bell, or for the bell and a descriptor. A bell without descriptors takes none
/// itself.
package final class Bell: Sendable {
    /// `nil` for a bell without descriptors.
    private let waker: Waker?
    /// Whether the bell was rung, without a waker.
    private let isRung = Monitor(false)

    /// - Parameter watchesDescriptors: whether ``wait(for:writing:until:)`` may get a descriptor.
    package init(watchesDescriptors: Bool = true) throws(SystemError) {
        self.waker = watchesDescriptors ? try Waker() : nil
    }

    /// Ends the wait in progress, or the next one.
    package func ring() {
        if let waker { return waker.wakeUp() }
        self.isRung.withLock { $0 = true }
        self.isRung.signal()
    }

    /// Waits until the bell is rung, the descriptor can be read (or written to), or the time has come.
    ///
    /// - Parameter descriptor: `nil` unless the bell watches descriptors.
    /// - Returns: whether the descriptor can be read, its end included.
    package func wait(for descriptor: Int32?, writing: Bool, until instant: MonotonicInstant?) -> Bool {
        guard let waker else {
            self.isRung.wait { isRung in
                guard !isRung, instant.map({ $0 > .now() }) ?? true else {
                    isRung = false
                    return .leave(())
                }
                return .sleep(until: instant)
            }
            return false
        }
        let events = Int16(writing ? POLLIN | POLLOUT : POLLIN)
        var entries = [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)]
        if let descriptor { entries.append(pollfd(fd: descriptor, events: events, revents: 0)) }
        guard poll(&entries, nfds_t(entries.count), instant?.millisecondsLeft ?? -1) > 0 else { return false }
        if entries[0].revents != 0 { waker.clear() }
        return entries.count > 1 && entries[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
    }
}
