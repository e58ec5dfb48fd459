import CSystem
import Glibc

/// A descriptor that becomes readable when the calendar clock is set or the machine wakes up. The loop then checks its
/// clocks.
///
/// - Source: `TFD_TIMER_CANCEL_ON_SET` in timerfd_create(2). The kernel treats a wake-up as setting the calendar clock.
final class ClockAlarm {
    private let file: FileDescriptor

    var descriptor: Int32 { self.file.number }

    /// `nil` if the kernel provides no such timer. The loop then notices a jump only after its sleep.
    init?() {
        let descriptor = csystem_clock_alarm()
        guard descriptor >= 0 else { return nil }
        self.file = FileDescriptor(descriptor)
    }

    func acknowledge() {
        var count: UInt64 = 0
        // The read fails with ECANCELED, and makes the kernel report the next change of the clock.
        _ = read(self.descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
