import Glibc
import KiiPushCore

/// The monotonic clock, in seconds.
func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// User and system time of this process, in seconds.
func processCPUSeconds() -> Double {
    var used = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &used)
    return used.ru_utime.seconds + used.ru_stime.seconds
}

/// Seconds that the living threads of a process have run so far.
func runSeconds(of process: Int32) -> Double {
    guard let names = Directory.names(in: "/proc/\(process)/task") else { return .nan }
    var nanoseconds = 0.0
    for name in names {
        // The first number of schedstat is the time run, in nanoseconds (the kernel's sched-stats.rst).
        guard let bytes = try? readFile("/proc/\(process)/task/\(name)/schedstat") else { continue }
        nanoseconds += String(decoding: bytes, as: UTF8.self).split(separator: " ").first.flatMap { Double($0) } ?? 0
    }
    return nanoseconds / 1e9
}

/// User and system time of a process so far, in seconds; the kernel reports hundredths.
func processTimes(of process: Int32) -> (user: Double, system: Double) {
    // The fields of proc_pid_stat(5) from the third on. The second field may contain any character.
    let text = (try? readFile("/proc/\(process)/stat")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return (.nan, .nan) }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    return (user / ticks, system / ticks)
}

/// Resident memory of a process in bytes, this one's by default.
func residentBytes(of process: String = "self") -> Double { statusBytes("VmRSS:", of: process) }

/// Peak resident memory of a process, in bytes.
func peakBytes(of process: String) -> Double { statusBytes("VmHWM:", of: process) }

/// Bytes that a process has caused to be written to a disk, excluding the file system's (`write_bytes` of proc(5)).
func writtenBytes(by process: Int32) -> Double {
    let text = (try? readFile("/proc/\(process)/io")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("write_bytes: ") }
    return line?.split(separator: " ").last.flatMap { Double($0) } ?? .nan
}

private func statusBytes(_ name: String, of process: String) -> Double {
    let text = (try? readFile("/proc/\(process)/status")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    let kilobytes = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) }
    return (kilobytes ?? .nan) * 1024
}

func readFile(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ChildProcess.Failure(description: "cannot read \(path)") }
    defer { close(descriptor) }
    var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 65536))
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
    }
}

func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw ChildProcess.Failure(description: "cannot write \(path)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
        throw ChildProcess.Failure(description: "cannot write \(path)")
    }
}

/// A free TCP port of the loopback. Another process may take it at any time.
func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
    }
    guard code == 0 else { throw ChildProcess.Failure(description: "no free port") }
    return Int(address.sin_port.bigEndian)
}

/// Waits until the port accepts connections, at most 10 s.
func waitUntilListening(_ port: Int) throws {
    for _ in 0..<1_000 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code == 0 { return }
        usleep(10_000)
    }
    throw ChildProcess.Failure(description: "nothing listens at port \(port)")
}

private func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    return address
}
