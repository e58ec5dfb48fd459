import Foundation
import TestSupport
import Testing

/// Nothing outlives a runner that is ended, as `timeout` and Ctrl-C do.
@Suite struct InterruptTests {
    /// A process as `/proc` shows it; `nil` once it is gone, or dead and waited for by nobody yet.
    private static func process(_ pid: Int32) -> (name: String, parent: Int32?)? {
        // PID (NAME) STATE PARENT ...
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let open = text.firstIndex(of: "("), let end = text.lastIndex(of: ")")
        else { return nil }
        let words = text[end...].split(separator: " ")
        guard words.count > 2, words[1] != "Z" else { return nil }
        return (String(text[text.index(after: open)..<end]), Int32(words[2]))
    }

    private static var processes: [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
    }

    private static func receiver(of runner: Int32) -> Int32? {
        self.processes.first { pid in
            self.process(pid).map { $0.name == "CountingAgent" && $0.parent == runner } ?? false
        }
    }

    /// The receivers whose files are in `folder`, whoever started them.
    private static func receivers(in folder: String) -> [Int32] {
        self.processes.filter { pid in
            self.process(pid)?.name == "CountingAgent"
                && (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8))?.contains(folder) == true
        }
    }

    @Test(.timeLimit(.minutes(15)), arguments: [SIGTERM, SIGINT])
    func theReceiverEndsWithItsRunner(signal: Int32) async throws {
        try await withTemporaryDirectory { folder in
            // All of the scenarios, which is more than minutes.
            let runner = try ChildProgram(
                [productsDirectory.appendingPathComponent("kii-push-faults").path],
                environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 })
            var receiver: Int32?
            while receiver == nil, Self.process(runner.processID) != nil {
                receiver = Self.receiver(of: runner.processID)
                try await Task.sleep(for: .milliseconds(10))
            }
            runner.signal(signal)
            #expect(receiver != nil)
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
