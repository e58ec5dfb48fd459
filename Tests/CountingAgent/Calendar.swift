import Glibc

/// The calendar clock of this process, which a test may set while the process runs. Setting the machine's clock would
/// affect all its users.
///
/// The program defines `clock_gettime` itself, so that all code linked into it calls this function, above all the
/// library. Other clocks stay unchanged.
enum Calendar {
    private typealias ClockGetTime = @convention(c) (clockid_t, UnsafeMutablePointer<timespec>) -> Int32

    // Set once, before the agent's threads start. Another process changes the value behind the pointer: eight aligned
    // bytes in one write.
    nonisolated(unsafe) private static var ahead: UnsafePointer<Int64>?

    private static let original: ClockGetTime? = {
        // RTLD_NEXT finds the C library's function, which this program's function hides.
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), "clock_gettime").map { unsafeBitCast($0, to: ClockGetTime.self) }
    }()

    /// Sets the clock ahead, from now on, by the seconds in the file (eight bytes).
    static func follow(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let mapped = mmap(nil, MemoryLayout<Int64>.size, PROT_READ, MAP_SHARED, descriptor, 0)
        guard descriptor >= 0, let mapped, mapped != MAP_FAILED else { exit(66) }
        self.ahead = UnsafePointer(mapped.assumingMemoryBound(to: Int64.self))
    }

    fileprivate static func read(_ clock: clockid_t, into time: UnsafeMutablePointer<timespec>) -> Int32 {
        guard let original else { return -1 }
        let code = original(clock, time)
        if clock == CLOCK_REALTIME, let ahead { time.pointee.tv_sec += Int(ahead.pointee) }
        return code
    }
}

@c(clock_gettime)
func readClock(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>) -> Int32 {
    Calendar.read(clock, into: time)
}
