import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

/// `run` under a service manager, which the test plays.
@Suite(.ownThreads) struct ServiceTests {
    private let session: EmulatorSession
    private let manager: DatagramReceiver

    init() throws {
        self.session = try EmulatorSession()
        try self.session.succeed("register")
        self.manager = try DatagramReceiver(self.session.tool.home.path + "/run/notify")
    }

    private func run(_ words: String..., environment: [String: String] = [:]) throws -> RunningTool {
        try self.session.tool.start(
            ["run"] + words, environment: ["NOTIFY_SOCKET": self.manager.path].merging(environment) { $1 })
    }

    private func configure(_ members: String) throws {
        try self.session.tool.write(
            #"{"version": 1, "profiles": {"default": {\#(members)}}}"#, to: "config/kii-push/config.json")
    }

    @Test func isReadyWhenTheSubscriptionStandsAndSaysThatItStops() throws {
        let run = try self.run("--exec", "true")
        let texts = self.manager.wait { $0.contains { $0.contains("READY=1") } }
        let ready = try #require(texts.last)
        #expect(ready.hasPrefix("STATUS=Ready. inst "))
        #expect(ready.hasSuffix("\nREADY=1"))
        let url = try #require(ready.firstMatch(of: /on (mqtts:\S+) \(/)).output.1
        #expect(run.error(containing: "> Ready. ").contains("> Ready. \(url), QoS 1, "))
        run.stop()
        #expect(self.manager.line("STOPPING=") == "1")
        #expect(!self.manager.texts.contains { $0.contains("WATCHDOG") })
    }

    @Test func anOutputThatNobodyReadsHoldsUpNothing() throws {
        let path = self.session.tool.home.path + "/output"
        #expect(mkfifo(path, 0o600) == 0)
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(descriptor) }
        let filling = [UInt8](repeating: 10, count: 4096)
        while write(descriptor, filling, filling.count) > 0 {}
        let words = ["bash", "-c", #"exec "$@" > "$0""#, path, try Tool.executable.path, "run", "--exec", "true"]
        let environment = self.session.tool.environment.merging(["NOTIFY_SOCKET": self.manager.path]) { $1 }
        let run = try RunningTool(words, environment: environment)
        #expect(self.manager.line("READY=") == "1")
        for _ in 1...2 { try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#) }
        run.waitUntil { try self.session.succeed("inbox", "list", "--state", "done").contains("#2") }
        run.signal(SIGUSR1)
        #expect(run.error(containing: #""done":2"#).contains(#""state":"connected""#))
        run.stop()
    }

    @Test func anAbstractSocketIsASocketToo() throws {
        let manager = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
        let run = try self.run("--exec", "true", environment: ["NOTIFY_SOCKET": manager.path])
        #expect(manager.line("READY=") == "1")
        run.stop()
    }

    @Test(arguments: ["relative", "", "@", "vsock:2:1", "/\(String(repeating: "x", count: 200))", "/nowhere/notify"])
    func aSocketThatIsNoneKeepsNothingFromRunning(path: String) throws {
        let run = try self.run("--exec", "true", environment: ["NOTIFY_SOCKET": path])
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        run.stop()
    }

    @Test func feedsTheWatchdog() throws {
        let run = try self.run("--exec", "true", environment: ["WATCHDOG_USEC": "100000"])
        let texts = self.manager.wait { $0.count { $0 == "WATCHDOG=1" } >= 3 }
        #expect(texts.count { $0 == "WATCHDOG=1" } >= 3)
        run.stop()
    }

    @Test func anothersWatchdogIsNoneOfOurs() throws {
        let run = try self.run("--exec", "true", environment: ["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"])
        #expect(self.manager.line("READY=") == "1")
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- newData").contains("exit 0"))
        run.stop()
        #expect(!self.manager.texts.contains { $0.contains("WATCHDOG") })
    }

    @Test func readsTheFilesAgainWhenItIsTold() throws {
        try self.configure(#""run": {"exec": "true"}"#)
        let run = try self.run()
        #expect(self.manager.line("READY=") == "1")
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- newData        #1").contains("exec true  exit 0"))

        try self.configure(#""run": {"exec": "bash -c 'exit 10'"}"#)
        var count = self.manager.texts.count
        run.signal(SIGHUP)
        let time = try #require(self.manager.line("MONOTONIC_USEC=", after: count))
        #expect(try #require(Int64(time)) <= MonotonicInstant.now().nanoseconds / 1000)
        #expect(self.manager.texts.dropFirst(count).contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
        #expect(self.manager.line("READY=", after: count) == "1")
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- noData         #2").contains("exec bash  exit 10"))

        try self.configure(#""run": {"exce": "true"}"#)
        count = self.manager.texts.count
        run.signal(SIGHUP)
        #expect(
            run.error(containing: "going on as before").contains(
                "/profiles/default/run/exce is unknown; did you mean 'exec'?"))
        #expect(self.manager.line("READY=", after: count) == "1")
        #expect(self.manager.line("STATUS=not reloaded: ", after: count) != nil)
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- noData         #3").contains("exec bash  exit 10"))
        run.stop()
    }

    @Test func whoWatchesGoesOnWatchingWhenTheFilesAreReadAgain() throws {
        try self.configure(#""run": {"exec": "true"}"#)
        let run = try self.run()
        #expect(self.manager.line("READY=") == "1")
        let watcher = try self.session.ready(["listen"])
        let count = self.manager.texts.count
        run.signal(SIGHUP)
        #expect(self.manager.line("READY=", after: count) == "1")
        #expect(watcher.error(containing: "> It receives again.").contains("> It receives again."))
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(watcher.output(containing: "<-- newData        #1").contains(#"msg="hi""#))
        watcher.signal(SIGINT)
        #expect(watcher.waitForExit().exit == 130)
        run.stop()
    }

    @Test func secretsComeFromTheServiceManagerAndAreReadAgain() throws {
        let file = try self.session.runtimeFile()
        let base = try #require(file["baseURL"]?.string)
        let app = try #require(file["appID"]?.string)
        let key = try #require(file["appKey"]?.string)
        let authority = try #require(file["caFile"]?.string)
        let cloud = #""baseURL": "\#(base)", "appID": "\#(app)", "run": {"exec": "true"}, "caFile": "#
        try self.configure(cloud + #""\#(authority)""#)
        let register = try self.session.tool("register", "--anew", environment: ["KII_PUSH_APP_KEY": key])
        try #require(register.exit == 0, "\(register.error)")
        // Removes the key that `register` kept, so that it cannot replace the missing one.
        let kept = self.session.tool.home.appending(path: "state/kii-push/profiles/default/credentials.json")
        try FileManager.default.removeItem(at: kept)
        let without = try self.run().waitForExit()
        #expect(without.exit == 78)
        #expect(without.error.contains("the app's key of profile 'default' is missing"))

        let name = "credentials/kii-push-credentials.json"
        try self.session.tool.write(#"{"version": 1, "profiles": {"default": {"appKey": "\#(key)"}}}"#, to: name)
        let environment = ["CREDENTIALS_DIRECTORY": self.session.tool.home.path + "/credentials"]
        let run = try self.run(environment: environment)
        #expect(self.manager.line("READY=") == "1")

        // `run` finds an unreadable authority or a missing secret before it drops its connection.
        try self.configure(cloud + #""/nowhere/ca.pem""#)
        run.signal(SIGHUP)
        #expect(run.error(containing: "going on as before").contains("/nowhere/ca.pem"))
        try self.configure(cloud + #""\#(authority)""#)
        try self.session.tool.write(#"{"version": 1, "profiles": {}}"#, to: name)
        run.signal(SIGHUP)
        #expect(run.error(containing: "is missing; going on as before").contains("the app's key"))
        try self.session.tool.write(#"{"version": 1, "profiles": {"default": {"appKey": "\#(key)"}}}"#, to: name)
        run.signal(SIGHUP)
        #expect(run.error(containing: "> Reloaded.").contains("> Reloaded."))
        run.stop()
    }

    @Test func tellsItsStateToWhoAsks() throws {
        let run = try self.run("--exec", "bash -c 'exit 65'")
        #expect(self.manager.line("READY=") == "1")
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"secret words"}"#)
        #expect(run.output(containing: "<-- dead").contains("exit 65"))
        run.signal(SIGUSR1)
        let text = run.error(containing: #""type":"service""#)
        let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("{") })
        let state = try JSONValue(parsing: Array(line.utf8))
        #expect(state["pid"]?.int64 == Int64(run.processID))
        #expect(state["profile"]?.string == "default")
        #expect(state["handler"]?.string == "exec bash")
        #expect(state["connection"]?["state"]?.string == "connected")
        #expect(state["dead"]?.int64 == 1)
        #expect(state["received"]?.int64 == 1)
        #expect(state["waiting"]?.int64 == 0)
        #expect(state["in_hand"]?.int64 == 0)
        #expect((state["uptime_ms"]?.int64 ?? -1) >= 0)
        #expect(!text.contains("secret words"))
        run.stop()
    }

    @Test func endsWhenNoConnectionStandsForTooLong() throws {
        let run = try self.run("--exec", "true", "--exit-when-offline", "20s")
        #expect(self.manager.line("READY=") == "1")
        _ = self.session.stop(SIGTERM)
        let result = run.waitForExit()
        #expect(result.exit == 69)
        #expect(result.error.contains("there was no connection for 20 s; last state: offline: "))
        #expect(self.manager.line("STATUS=offline: ") != nil)
        #expect(self.manager.line("STOPPING=") == "1")
    }

    @Test func theJournalGetsNothingWhereItIsNotConnected() throws {
        // An inherited JOURNAL_STREAM does not match the descriptors of this process.
        let run = try self.run("--exec", "true", environment: ["JOURNAL_STREAM": "1:2"])
        #expect(self.manager.line("READY=") == "1")
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- newData").contains("exit 0"))
        run.stop()
    }
}
