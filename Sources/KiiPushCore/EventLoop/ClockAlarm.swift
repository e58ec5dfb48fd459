import CSystem
import Glibc

/// A descriptor that becomes readable when the calendar is set or the machine wakes up. It wakes a loop that would
/// otherwise sleep on, so that the loop checks the clocks.
///
/// - Source: `TFD_TIMER_CANCEL_ON_SET` in timerfd_create(2). A wake-up counts as setting the calendar, which went on
///   during the sleep.
final class ClockAlarm {
    private let file: FileDescriptor

    var descriptor: Int32 { self.file.number }

    /// Arms the alarm; `nil` where the kernel offers none. The loop then notices a jump later, in its next turn.
    init?() {
        let descriptor = csystem_clock_alarm()
        guard descriptor >= 0 else { return nil }
        self.file = FileDescriptor(descriptor)
    }

    /// Rearms the alarm.
    func acknowledge() {
        var count: UInt64 = 0
        // Fails with ECANCELED, as expected.
        _ = read(self.descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
