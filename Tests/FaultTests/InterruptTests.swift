import Foundation
import TestSupport
import Testing

/// Nothing outlives a runner that is ended, as `timeout` and Ctrl-C do.
@Suite struct InterruptTests {
    /// What a process was started with; `nil` once it is gone, or dead and waited for by nobody yet.
    private static func commandLine(_ pid: Int32) -> String? {
        let text = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)
        return text?.isEmpty == false ? text : nil
    }

    /// The receivers whose files are in `folder`, whoever started them.
    private static func receivers(in folder: String) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { pid in
            self.commandLine(pid).map { $0.contains("/CountingAgent\0") && $0.contains(folder) } ?? false
        }
    }

    @Test(.timeLimit(.minutes(15)), arguments: [SIGTERM, SIGINT])
    func theReceiverEndsWithItsRunner(signal: Int32) async throws {
        try await withTemporaryDirectory { folder in
            // All of the scenarios, which is more than minutes.
            let runner = try ChildProgram(
                [productsDirectory.appendingPathComponent("kii-push-faults").path],
                environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 })
            while Self.receivers(in: folder).isEmpty {
                try #require(Self.commandLine(runner.processID) != nil)
                try await Task.sleep(for: .milliseconds(10))
            }
            runner.signal(signal)
            #expect(try await onThread { runner.wait() } == 128 + signal)
            // Gone, or about to be: they were killed before their parent ended. Another may have been started since.
            let deadline = ContinuousClock.now + .seconds(60)
            while !Self.receivers(in: folder).isEmpty, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(Self.receivers(in: folder).isEmpty)
            // Not to be left behind where this fails.
            for pid in Self.receivers(in: folder) { kill(pid, SIGKILL) }
        }
    }
}
