import Glibc

/// The file that names the process that runs: what a successor needs to end it after a crash.
struct ProcessFile {
    private let path: String

    init(_ path: String) { self.path = path }

    /// - Returns: why it could not be written.
    func write(_ processID: Int32) -> String? {
        guard let startTime = Self.startTime(of: processID), let boot = Self.boot else { return nil }
        let descriptor = open(self.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return self.failure(errno) }
        defer { close(descriptor) }
        let text = Array("\(processID) \(startTime) \(boot)\n".utf8)
        guard Glibc.write(descriptor, text, text.count) == text.count else { return self.failure(errno) }
        return nil
    }

    func remove() { unlink(self.path) }

    /// Ends the process that the file names, with its group, if it runs still: an earlier run of this program has left it.
    ///
    /// - Parameters:
    ///   - grace: how long it has after SIGTERM.
    ///   - bell: the thread's own; what rings it meanwhile the thread takes afterwards.
    /// - Returns: its ID if there was one.
    func endLeftover(grace: Duration, waitingWith bell: Bell) -> Int32? {
        defer { self.remove() }
        guard let text = Self.read(self.path) else { return nil }
        let words = text.split { $0 == " " || $0 == "\n" }
        guard words.count == 3, let processID = Int32(words[0]), processID > 1, String(words[2]) == Self.boot,
            Self.startTime(of: processID) == String(words[1])
        else { return nil }
        kill(-processID, SIGTERM)
        let begin = MonotonicInstant.now()
        // It is no child of this process, so there is nothing to wait for but its end itself. One that is stuck in the
        // kernel is not waited for: it does nothing any more.
        while Self.startTime(of: processID) == String(words[1]), MonotonicInstant.now() < begin + grace + .seconds(5) {
            if MonotonicInstant.now() >= begin + grace { kill(-processID, SIGKILL) }
            // The kernel tells a parent alone of an end, so it is looked for.
            _ = bell.wait(for: nil, writing: false, until: .now() + .milliseconds(10))
        }
        return processID
    }

    /// Tells the runs of the machine apart: IDs and start times are counted anew in each.
    private static var boot: String? {
        read("/proc/sys/kernel/random/boot_id").map { String($0.prefix { $0 != "\n" }) }
    }

    private func failure(_ code: Int32) -> String { "cannot write \(self.path): \(errorText(code))" }

    /// When a process was started, in the kernel's units, which with its ID tells it from any other; `nil` when it is
    /// not there, or has ended and was not waited for.
    private static func startTime(of processID: Int32) -> String? {
        guard let text = read("/proc/\(processID)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        // proc(5): the name in parentheses may hold anything; after it come the state, field 3, and field 22.
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return String(fields[19])
    }

    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
