import Glibc

/// Wakes a thread that waits for a descriptor.
final class Bell: Sendable {
    private let ends: (OwnedDescriptor, OwnedDescriptor)

    init(for program: String) throws(SpawnError) { self.ends = try OwnedDescriptor.connectedPair(for: program) }

    /// Has the next ``wait(for:writing:until:)``, or the one that goes on, return.
    func ring() {
        // What does not go in is not needed: the one who waits wakes by what is in there.
        var byte: UInt8 = 1
        _ = send(self.ends.1.number, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }

    /// Waits until the bell is rung, the descriptor can be read (or written to), or the time has come.
    ///
    /// - Returns: whether the descriptor can be read, its end included.
    func wait(for descriptor: Int32?, writing: Bool, until instant: MonotonicInstant?) -> Bool {
        let events = Int16(writing ? POLLIN | POLLOUT : POLLIN)
        var entries = [pollfd(fd: self.ends.0.number, events: Int16(POLLIN), revents: 0)]
        if let descriptor { entries.append(pollfd(fd: descriptor, events: events, revents: 0)) }
        var timeout: Int32 = -1
        if let instant {
            // Rounded up: to wake a moment early would be to wake twice.
            let milliseconds = ((instant - .now()).wholeNanoseconds + 999_999) / 1_000_000
            timeout = Int32(min(max(milliseconds, 0), 3_600_000))
        }
        guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return false }
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 256)
            while recv(self.ends.0.number, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
        return entries.count > 1 && entries[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
    }
}
