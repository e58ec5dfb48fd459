import Glibc
import KiiPushCore

/// What the threads of a process have done until now.
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
            // proc(5) leaves the first file to the kernel's documentation (sched-stats.rst): the first number is time run.
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

    /// Seconds that they have run.
    var runSeconds: Double { self.threads.values.reduce(0) { $0 + $1.runSeconds } }

    /// How often one of them has waited for something and was woken.
    var wakeUps: Double { self.threads.values.reduce(0) { $0 + $1.wakeUps } }

    /// The part of the thread in which libdispatch looks after its pool once a second, whatever the process does: the price
    /// of `async` on Linux.
    var wakeUpsOfLibdispatch: Double {
        self.threads.values.filter { $0.name.hasPrefix("-qos.overcommit") }.reduce(0) { $0 + $1.wakeUps }
    }

    /// What they did since `earlier`; threads that have ended meanwhile are left out.
    func since(_ earlier: Threads) -> Threads {
        var difference = self
        for (name, thread) in earlier.threads where self.threads[name] != nil {
            difference.threads[name]?.runSeconds -= thread.runSeconds
            difference.threads[name]?.wakeUps -= thread.wakeUps
        }
        return difference
    }
}

/// How many files a process may have open.
enum Descriptors {
    /// Raises the limit as far as the system lets it, and returns it.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }

    /// How many a process has open.
    static func open(by process: Int32) -> Int { (Directory.names(in: "/proc/\(process)/fd") ?? []).count }
}
