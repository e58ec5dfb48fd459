import Foundation
import TestSupport
import Testing

/// Nothing outlives a runner that is ended, as `timeout` and Ctrl-C do.
@Suite struct InterruptTests {
    /// Whether a process is there and not dead, waited for by nobody yet. Its command line would not tell: it is empty for
    /// a moment when the process begins.
    private static func isRunning(_ pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return false }
        return !text[end...].hasPrefix(") Z")
    }

    /// The receivers whose files are in `folder`, whoever started them.
    private static func receivers(in folder: String) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { pid in
            guard let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8) else { return false }
            return line.contains("/CountingAgent\0") && line.contains(folder)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func theReceiverEndsWithItsRunner(signal: Int32) async throws {
        try await withTemporaryDirectory { folder in
            // All of the scenarios, which is more than minutes.
            let runner = try ChildProgram(
                [productsDirectory.appendingPathComponent("kii-push-faults").path],
                environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 })
            // Not in a task: where all tests run at once, one may wait for its turn until the scenarios are through.
            let status = try await onThread {
                while Self.receivers(in: folder).isEmpty {
                    guard Self.isRunning(runner.processID) else { throw TestFailure(runner.errors.all()) }
                    usleep(10_000)
                }
                runner.signal(signal)
                return runner.wait()
            }
            #expect(status == 128 + signal)
            // Gone, or about to be: they were killed before their parent ended. Another may have been started since.
            let deadline = ContinuousClock.now + .seconds(600)
            while !Self.receivers(in: folder).isEmpty, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(Self.receivers(in: folder).isEmpty)
            // Not to be left behind where this fails.
            for pid in Self.receivers(in: folder) { kill(pid, SIGKILL) }
        }
    }
}
