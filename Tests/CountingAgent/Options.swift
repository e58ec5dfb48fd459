import Glibc

/// The program's arguments.
struct Options: Sendable {
    private static let required = ["state", "log", "events", "url", "app", "ca", "inbox"]
    private static let optional = [
        // Whether to use TLS (1), whether to use WebSocket (1), seconds of keepalive, handlers at once, the seed of the work's lengths.
        "tls", "websocket", "keepalive", "handlers", "seed",
        // The message that kills the process; every how many messages one fails at first, or takes `slow-ms`, and the
        // path of the files that say which have done so, where each is to do so once.
        "poison", "fails", "slow", "slow-ms", "slow-once",
        // The file that says how many seconds the calendar is ahead.
        "calendar",
        // Whether the inbox's commits are flushed (1, unless it is 0).
        "flushes",
        // Whether handlers never answer (1), and a stop does not wait for them.
        "holds",
        // Whether a program is started for each message (1); the most files that may be open.
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

    /// One of the required ones.
    subscript(_ name: String) -> String { self.values[name] ?? "" }

    /// One of the others.
    func text(_ name: String) -> String? { self.values[name] }

    func number(_ name: String) -> Int? { self.values[name].flatMap { Int($0) } }
}

/// A file that lines are appended to and written through to the disk. What cannot be written ends the process, since
/// nothing could be counted any more.
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
