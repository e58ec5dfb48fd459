import Glibc
import KiiPushCore

/// The work of a process's threads so far.
struct Threads {
    private struct Thread {
        var name: String
        var runSeconds = 0.0
        var wakeUps = 0.0
    }

    private var threads: [String: Thread] = [:]

    init(of process: Int32) {
        let folder = "/proc/\(process)/task"
        for name in Directory.names(in: folder) ?? [] {
            // The first number of schedstat is the time run, in nanoseconds (the kernel's sched-stats.rst).
            guard let time = try? readFile("\(folder)/\(name)/schedstat"),
                let status = try? readFile("\(folder)/\(name)/status"),
                let comm = try? readFile("\(folder)/\(name)/comm")
            else { continue }
            let nanoseconds = String(decoding: time, as: UTF8.self).split(separator: " ").first.flatMap { Double($0) }
            let switches = String(decoding: status, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("voluntary_ctxt_switches:") }?.split(separator: "\t").last
            self.threads[name] = Thread(
                name: String(decoding: comm, as: UTF8.self), runSeconds: (nanoseconds ?? 0) / 1e9,
                wakeUps: switches.flatMap { Double($0) } ?? 0)
        }
    }

    /// Seconds that the threads have run.
    var runSeconds: Double { self.threads.values.reduce(0) { $0 + $1.runSeconds } }

    /// Number of times that a thread waited and was woken.
    var wakeUps: Double { self.threads.values.reduce(0) { $0 + $1.wakeUps } }

    /// Wake-ups of libdispatch's thread, which checks its pool once a second even in an idle process: the price of
    /// `async` on Linux.
    var wakeUpsOfLibdispatch: Double {
        self.threads.values.filter { $0.name.hasPrefix("-qos.overcommit") }.reduce(0) { $0 + $1.wakeUps }
    }

    /// The work since `earlier`, without threads that have ended.
    func since(_ earlier: Threads) -> Threads {
        var difference = self
        for (name, thread) in earlier.threads where self.threads[name] != nil {
            difference.threads[name]?.runSeconds -= thread.runSeconds
            difference.threads[name]?.wakeUps -= thread.wakeUps
        }
        return difference
    }
}

/// Limits and counts of open file descriptors.
enum Descriptors {
    /// Raises the limit to the system's maximum, and returns the limit.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }

    /// The number of open descriptors of a process.
    static func open(by process: Int32) -> Int { (Directory.names(in: "/proc/\(process)/fd") ?? []).count }
}
