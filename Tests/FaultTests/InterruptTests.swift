import Faults
import Foundation
import TestSupport
import Testing

/// A runner that `timeout` or Ctrl-C ends leaves no process behind.
@Suite struct InterruptTests {
    /// Whether a process exists and is no zombie. Its command line would not show that: it is empty for a moment at the
    /// start.
    private static func isRunning(_ pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return false }
        return !text[end...].hasPrefix(") Z")
    }

    /// All programs with files in `folder`: receivers, and the programs of a disk.
    private static func programs(
        _ names: [String] = ["CountingAgent", "nbdfuse", "nbdkit"], in folder: String
    ) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { pid in
            guard let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8) else { return false }
            let name = line.prefix { $0 != "\0" }.split(separator: "/").last.map(String.init) ?? ""
            return names.contains(name) && line.contains(folder)
        }
    }

    private static func loopDevices(in folder: String) -> [String] {
        let devices = (try? FileManager.default.contentsOfDirectory(atPath: "/sys/block")) ?? []
        return devices.filter { device in
            let file = try? String(contentsOfFile: "/sys/block/\(device)/loop/backing_file", encoding: .utf8)
            return file?.contains(folder) == true
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func theReceiverEndsWithItsRunner(signal: Int32) async throws {
        // All scenarios take more than minutes, so the signal comes while they run.
        try await self.interrupt([], by: signal)
    }

    @Test(
        .enabled(if: PowerDisk.obstacle == nil, "root has to have called script/faults, which compiles the disk"),
        arguments: [SIGTERM, SIGINT])
    func theDiskEndsWithItsRunner(signal: Int32) async throws {
        try await self.interrupt(["power"], by: signal)
    }

    private func interrupt(_ scenarios: [String], by signal: Int32) async throws {
        try await withTemporaryDirectory { folder in
            let runner = try ChildProgram(
                [productsDirectory.appendingPathComponent("kii-push-faults").path] + scenarios,
                environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 })
            // A thread, because a task could wait for its turn until the scenarios are over if all tests run at once.
            let status = try await onThread {
                while Self.programs(["CountingAgent"], in: folder).isEmpty {
                    guard Self.isRunning(runner.processID) else { throw TestFailure(runner.errors.all()) }
                    usleep(10_000)
                }
                runner.signal(signal)
                return runner.wait()
            }
            #expect(status == 128 + signal)
            // The kernel may still be ending processes that were killed before their parent ended. A process may also
            // have started since.
            let deadline = ContinuousClock.now + .seconds(600)
            while !Self.programs(in: folder).isEmpty || !Self.loopDevices(in: folder).isEmpty,
                ContinuousClock.now < deadline
            {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(Self.programs(in: folder).isEmpty)
            #expect(Self.loopDevices(in: folder).isEmpty)
            for pid in Self.programs(in: folder) { kill(pid, SIGKILL) }
        }
    }
}
