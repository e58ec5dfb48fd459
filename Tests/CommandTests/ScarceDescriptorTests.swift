import Foundation
import KiiPushCore
import TestTraits
import Testing

/// A process that may open no more files delays its handlers, says so, and burns no attempt.
@Suite(.ownThreads) struct ScarceDescriptorTests {
    @Test func moreJobsThanDescriptorsFailNoAttempt() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.store(Array(repeating: .waiting, count: 120))
        let words = [
            "bash", "-c", #"ulimit -n 64; exec "$0" run --jobs 100 --exec 'sleep 0.05'"#, try Tool.executable.path,
        ]
        let run = try RunningTool(words, environment: session.tool.environment)
        let text = run.output { $0.matches(of: /<-- newData/).count >= 120 }
        #expect(text.matches(of: /<-- newData/).count == 120)
        #expect(text.matches(of: /<-- failed/).count == 0)
        #expect(text.matches(of: /Bad file descriptor/).count == 0)
        run.stop()
    }

    @Test func withoutADescriptorNothingIsStartedUntilThereIsOne() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let run = try session.ready(["run", "--exec", "true"])
        try self.limit(run, to: 8)
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let text = run.error(containing: "not handling")
        #expect(text.contains("Too many open files"), "\(text)")
        try self.limit(run, to: 256)
        #expect(run.output(containing: "<-- newData        #1").contains("exec true  exit 0"))
        #expect(run.error(containing: "Handling again").contains("Handling again"))
        run.stop()
        let trace = try InboxReader(stateDirectory: session.stateDirectory).trace(of: 1)
        #expect(!trace.events.contains { if case .failed = $0.kind { true } else { false } })
    }

    /// Sets how many files a process may have open.
    private func limit(_ tool: RunningTool, to count: Int) throws {
        let words = ["prlimit", "--pid", "\(tool.processID)", "--nofile=\(count):"]
        try #require(try RunningTool(words, environment: ProcessInfo.processInfo.environment).waitForExit().exit == 0)
    }
}
