import Foundation
import KiiPushCore
import TestTraits
import Testing

/// A process that cannot open more files delays its handlers and reports that. No attempt fails.
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

    @Test(arguments: [false, true])
    func withoutADescriptorNothingIsStartedUntilThereIsOne(isForwarding: Bool) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let server = try HookServer { _ in "200 OK" }
        let handler = isForwarding ? ["--forward-to", "\(server.port)"] : ["--exec", "true"]
        let run = try session.ready(["run"] + handler)
        try self.limit(run, to: 8)
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let text = run.error(containing: "not handling")
        #expect(text.contains("Too many open files"), "\(text)")
        try self.limit(run, to: 256)
        let line = run.output(containing: "<-- newData        #1")
        #expect(line.contains(isForwarding ? "  200  " : "exec true  exit 0"))
        #expect(run.error(containing: "Handling again").contains("Handling again"))
        run.stop()
        let trace = try InboxReader(stateDirectory: session.stateDirectory).trace(of: 1)
        #expect(!trace.events.contains { if case .failed = $0.kind { true } else { false } })
    }

    @Test(arguments: [["run", "--exec", "true"], ["listen"], ["emulator", "--temporary"], ["doctor"]])
    func withTooFewDescriptorsItSaysHowManyItNeeds(words: [String]) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        for count in [8, 13, 24, 63] {
            let limited = ["bash", "-c", #"ulimit -n \#(count); exec "$0" "$@""#, try Tool.executable.path] + words
            let result = try RunningTool(limited, environment: session.tool.environment).waitForExit()
            #expect(result.exit == 75)
            #expect(
                result.error.hasPrefix("kii-push: it may have \(count) files open, and needs 64\n"), "\(result.error)")
        }
    }

    private func limit(_ tool: RunningTool, to count: Int) throws {
        let words = ["prlimit", "--pid", "\(tool.processID)", "--nofile=\(count):"]
        try #require(try RunningTool(words, environment: ProcessInfo.processInfo.environment).waitForExit().exit == 0)
    }
}
