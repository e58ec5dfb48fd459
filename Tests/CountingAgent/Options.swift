import Glibc

struct Options: Sendable {
    private static let required = ["state", "log", "events", "url", "app", "ca", "inbox"]
    private static let optional = [
        // `tls` and `websocket` are on with 1. `keepalive` is in seconds, `handlers` is the number of concurrent
        // handlers, and `seed` is the seed of the work's lengths.
        "tls", "websocket", "keepalive", "handlers", "seed",
        // `poison` is the message that kills the process. One in `fails` messages fails at first, one in `slow` takes
        // `slow-ms`. With `slow-once`, the path of its marker files, each slow message is slow only once.
        "poison", "fails", "slow", "slow-ms", "slow-once",
        // The file with the seconds by which the calendar is ahead.
        "calendar",
        // Whether the inbox flushes its commits (default 1; 0 turns it off).
        "flushes",
        // With 1, handlers never answer, and a stop does not wait for them.
        "holds",
        // With 1, the agent starts a program for each message. `files` limits the number of open files.
        "programs", "files",
    ]

    private var values: [String: String] = [:]

    init?(_ arguments: some Sequence<String>) {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, (Options.required + Options.optional).contains(parts[0]) else { return nil }
            self.values[parts[0]] = parts[1]
        }
        guard Options.required.allSatisfy({ self.values[$0] != nil }) else { return nil }
    }

    /// A required argument.
    subscript(_ name: String) -> String { self.values[name] ?? "" }

    /// An optional argument.
    func text(_ name: String) -> String? { self.values[name] }

    func number(_ name: String) -> Int? { self.values[name].flatMap { Int($0) } }
}

/// A file to which lines are appended and flushed. A failed write ends the process, because the count would be wrong.
struct AppendedFile: Sendable {
    private let descriptor: Int32

    init?(_ path: String) {
        self.descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { return nil }
    }

    func append(_ line: some StringProtocol) {
        let bytes = Array(line.utf8)
        guard write(self.descriptor, bytes, bytes.count) == bytes.count, fdatasync(self.descriptor) == 0 else {
            exit(74)
        }
    }
}
