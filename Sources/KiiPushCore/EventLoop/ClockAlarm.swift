import CSystem
import Glibc

/// A descriptor that becomes readable when the calendar is set and when the machine wakes up from a sleep, so that a loop
/// that has nothing to do until much later looks at the clocks then.
///
/// - Source: `TFD_TIMER_CANCEL_ON_SET` in timerfd_create(2). Waking up counts as setting: the calendar went on meanwhile.
final class ClockAlarm {
    private let file: FileDescriptor

    var descriptor: Int32 { self.file.number }

    /// Arms the alarm; `nil` where the kernel has none to give, which costs promptness alone.
    init?() {
        let descriptor = csystem_clock_alarm()
        guard descriptor >= 0 else { return nil }
        self.file = FileDescriptor(descriptor)
    }

    /// Makes it ready for the next time.
    func acknowledge() {
        var count: UInt64 = 0
        // Fails with ECANCELED: that is the message.
        _ = read(self.descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
