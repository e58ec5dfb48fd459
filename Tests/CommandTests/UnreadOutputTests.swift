import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// A reader that stopped reading without closing its end.
@Suite(.ownThreads) struct UnreadOutputTests {
    enum Place: String, CaseIterable, Sendable {
        case output = "1"
        case both = "1 2"
        case errors = "2"
    }

    private final class FullPipe {
        let path: String
        private let descriptor: Int32

        init(_ path: String) throws {
            self.path = path
            try #require(mkfifo(path, 0o600) == 0)
            self.descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            let filling = [UInt8](repeating: 10, count: 4096)
            while write(self.descriptor, filling, filling.count) > 0 {}
        }

        deinit { close(self.descriptor) }
    }

    private let session: EmulatorSession
    private let pipe: FullPipe

    init() throws {
        self.session = try EmulatorSession()
        try self.session.succeed("register")
        self.pipe = try FullPipe(self.session.tool.home.path + "/pipe")
    }

    /// Starts the tool with the output `place` connected to the full pipe.
    private func start(_ words: [String], _ place: Place, _ environment: [String: String] = [:]) throws -> RunningTool {
        let redirection = place.rawValue.split(separator: " ").map { "\($0)> \"$0\"" }.joined(separator: " ")
        return try RunningTool(
            ["bash", "-c", "exec \"$@\" \(redirection)", self.pipe.path, try Tool.executable.path] + words,
            environment: self.session.tool.environment.merging(environment) { $1 })
    }

    @Test(arguments: Place.allCases) func holdsUpNoService(place: Place) throws {
        let manager = try DatagramReceiver(self.session.tool.home.path + "/run/notify")
        let run = try self.start(["run", "--exec", "true", "-v"], place, ["NOTIFY_SOCKET": manager.path])
        #expect(manager.line("READY=") == "1")
        for _ in 1...3 { run.signal(SIGUSR1) }
        for _ in 1...2 {
            let count = manager.texts.count
            run.signal(SIGHUP)
            #expect(manager.line("READY=", after: count) == "1")
        }
        for _ in 1...2 { try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#) }
        run.waitUntil { try self.session.succeed("inbox", "list", "--state", "done").contains("#2") }
        run.stop()
    }

    @Test func holdsUpNoEndOfListening() throws {
        let recording = self.session.tool.home.path + "/pushes.kpr"
        let listen = try self.start(["listen", "--record", recording], .output)
        #expect(listen.error(containing: "> Ready. ").contains("> Ready. "))
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        listen.waitUntil { try self.session.succeed("inbox", "list", "--state", "running").contains("#1") }
        let watcher = try self.start(["listen"], .output)
        #expect(watcher.error(containing: "> Ready. ").contains("> Ready. "))
        watcher.stop()
        listen.stop()
        // Nobody has seen the message, so it has no failed attempt.
        let trace = try InboxReader(stateDirectory: self.session.stateDirectory).trace(of: 1)
        #expect(!trace.events.contains { if case .failed = $0.kind { true } else { false } })
        let next = try self.session.tool("listen", "-n1", "-t5m", "--record", recording)
        #expect(next.output.contains("<-- newData        #1"))
        let recorded = try String(contentsOfFile: recording, encoding: .utf8)
        #expect(recorded.split(separator: "\n").count == 1, "\(recorded)")
    }

    @Test func aRecordingThatNobodyReadsHoldsUpNoEnd() throws {
        let listen = try self.session.ready(["listen", "--record", self.pipe.path])
        try self.session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(listen.output(containing: #"msg="hi""#).contains("#1"))
        listen.stop()
    }

    @Test(arguments: [Place.output, .both]) func holdsUpNoEndOfAnEmulator(place: Place) throws {
        let state = self.session.tool.home.path + "/other"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let emulator = try self.start(
            ["emulator", "--temporary"] + EmulatorSession.freePorts(), place, ["XDG_RUNTIME_DIR": state])
        emulator.waitUntil { FileManager.default.fileExists(atPath: state + "/kii-push/emulator.json") }
        emulator.stop()
    }
}
