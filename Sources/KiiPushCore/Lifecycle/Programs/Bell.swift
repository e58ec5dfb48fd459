import Glibc

/// Wakes a thread that waits: for a descriptor as well, or for the bell alone, which then takes no descriptors.
package final class Bell: Sendable {
    /// Two sockets; `nil` for a bell that is waited for alone.
    private let ends: (OwnedDescriptor, OwnedDescriptor)?
    /// Whether it was rung, where there are no sockets.
    private let isRung = Monitor(false)

    /// - Parameter watchesDescriptors: whether who waits for it waits for a descriptor, too.
    package init(for program: String, watchesDescriptors: Bool = true) throws(SpawnError) {
        self.ends = watchesDescriptors ? try OwnedDescriptor.connectedPair(for: program) : nil
    }

    /// Has the next ``wait(for:writing:until:)``, or the one that goes on, return.
    package func ring() {
        guard let ends else {
            self.isRung.withLock { $0 = true }
            return self.isRung.signal()
        }
        // What does not go in is not needed: the one who waits wakes by what is in there.
        var byte: UInt8 = 1
        _ = send(ends.1.number, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }

    /// Waits until the bell is rung, the descriptor can be read (or written to), or the time has come.
    ///
    /// - Parameter descriptor: `nil` unless it was made for one who watches descriptors.
    /// - Returns: whether the descriptor can be read, its end included.
    package func wait(for descriptor: Int32?, writing: Bool, until instant: MonotonicInstant?) -> Bool {
        guard let ends else {
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
        var entries = [pollfd(fd: ends.0.number, events: Int16(POLLIN), revents: 0)]
        if let descriptor { entries.append(pollfd(fd: descriptor, events: events, revents: 0)) }
        // Rounded up: to wake a moment early would be to wake twice.
        let timeout = instant.map { Int32(min(max(($0 - .now()).wholeMillisecondsRoundedUp, 0), 3_600_000)) } ?? -1
        guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return false }
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 256)
            while recv(ends.0.number, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
        return entries.count > 1 && entries[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
    }
}
