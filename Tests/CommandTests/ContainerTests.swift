import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct ContainerTests {
    /// Starts a command in new namespaces, for which a user without root's rights needs a user namespace.
    private static func unshared(_ options: [String]) -> [String] {
        ["unshare"] + (geteuid() == 0 ? [] : ["--map-root-user"]) + options
    }

    private static let canMount = Self.succeeds(
        Self.unshared(["--mount", "mount", "-t", "tmpfs", "none", "/dev/shm"]))
    private static let canBeFirst = Self.succeeds(Self.unshared(["--pid", "--kill-child", "true"]))

    private static func succeeds(_ words: [String]) -> Bool {
        (try? RunningTool(words, environment: ProcessInfo.processInfo.environment).waitForExit().exit) == 0
    }

    @Test(.enabled(if: Self.canMount)) func aFullSharedMemoryKeepsNoHandlerFromStarting() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let script = """
            mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero > /dev/shm/full
            exec "$0" run --exec 'cat /dev/stdin'
            """
        let words = Self.unshared(["--mount", "bash", "-c", script, try Tool.executable.path])
        let run = try RunningTool(words, environment: session.tool.environment)
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- ").contains("<-- newData        #1  exec cat  exit 0"))
        #expect(run.error(containing: #""msg":"hi""#).contains(#""msg":"hi""#))
        run.stop()
    }

    @Test func aHandlerCannotChangeWhatTheOthersOfItsAttemptRead() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let script = "echo changed 1<> /dev/stdin && exit 65; cat; exit 10"
        let run = try session.ready(["run", "--shell", "--exec", script])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- ").contains("<-- noData         #1"))
        run.stop()
    }

    /// The receiver is a subreaper: like a first process, it becomes the parent of orphans.
    @Test func orphansAreReaped() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let becoming =
            "import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
        let script = #"sleep 0.01 & echo $! >> "$HOME/orphans""#
        let words = ["python3", "-c", becoming, try Tool.executable.path, "run", "--shell", "--exec", script]
        let run = try RunningTool(words, environment: session.tool.environment)
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        for number in 1...3 {
            try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
            let line = "<-- newData        #\(number)"
            #expect(run.output(containing: line).contains(line))
        }
        let orphans = try String(contentsOfFile: session.tool.home.path + "/orphans", encoding: .utf8)
            .split(separator: "\n").compactMap { Int32($0) }
        #expect(orphans.count == 3)
        // `kill` succeeds on a zombie, so this waits until the tool has reaped them.
        run.waitUntil { orphans.allSatisfy { kill($0, 0) != 0 } }
        run.stop()
    }

    @Test(.enabled(if: Self.canBeFirst)) func aSignalEndsTheFirstProcessBeforeItReceives() throws {
        let tool = try Tool()
        let listener = try tool.configureSilentCloud()
        defer { close(listener) }
        let words = Self.unshared([
            "--pid", "--kill-child", try Tool.executable.path, "run", "--insecure", "--exec", "true",
        ])
        let run = try RunningTool(words, environment: tool.environment.merging(["KII_PUSH_APP_KEY": "k"]) { $1 })
        #expect(run.error(containing: "> Registering").contains("> Registering"))
        let path = "/proc/\(run.processID)/task/\(run.processID)/children"
        let child = try #require(
            try Int32(String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespaces)))
        kill(child, SIGTERM)
        #expect(run.waitForExit().exit == 128 + SIGTERM)
    }
}
