import Glibc

/// The calendar clock of this process, which a test may set while the process runs; setting the machine's would hit
/// everybody on it.
///
/// The program defines `clock_gettime` itself, so that everything that is linked into it, the library before all, asks
/// this one. Other clocks than the calendar are what they are.
enum Calendar {
    private typealias ClockGetTime = @convention(c) (clockid_t, UnsafeMutablePointer<timespec>) -> Int32

    // Set once, before the agent's threads start; what it points to is changed by another process, eight aligned bytes
    // at once.
    nonisolated(unsafe) private static var ahead: UnsafePointer<Int64>?

    private static let original: ClockGetTime? = {
        // RTLD_NEXT: the C library's, which this program's hides.
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), "clock_gettime").map { unsafeBitCast($0, to: ClockGetTime.self) }
    }()

    /// Is ahead from now on by as many seconds as the file holds, in eight bytes.
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
