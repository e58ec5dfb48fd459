import Foundation
import Glibc
import KiiPushCore
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct ExecTests {
    /// Registers a profile, then starts `run` with these words.
    private static func run(
        _ words: [String], script: String? = nil, environment: [String: String] = [:]
    ) throws -> (session: EmulatorSession, run: RunningTool) {
        let session = try EmulatorSession()
        try session.succeed("register")
        var words = words
        if let script {
            words += ["--exec", try session.tool.write("#!/bin/bash\n" + script, to: "on push.sh", mode: 0o700).quoted]
        }
        let run = try session.tool.start(["run"] + words, environment: environment)
        if words.contains("--json") {
            #expect(run.output(containing: #""state":"connected""#).contains(#""state":"connected""#))
        } else {
            #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        }
        return (session, run)
    }

    @Test(arguments: [
        (0, "<-- newData        #1  exec ", "  exit 0  "), (10, "<-- noData         #1  exec ", "  exit 10  "),
        (65, "<-- dead           #1  exec ", "  rejected: the program refused it (exit status 65); kept in the inbox"),
        (75, "<-- failed         #1  exec ", "  attempt 1, retry in 1.0 s"),
        (3, "<-- failed         #1  exec ", "  attempt 1, retry in 1.0 s"),
    ])
    func answersByItsExitStatus(status: Int, start: String, detail: String) throws {
        let (session, run) = try Self.run([], script: "exit \(status)")
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line = run.output(containing: start)
        #expect(line.contains(start))
        #expect(line.contains("on push.sh  exit \(status)  "))
        #expect(line.contains(detail))
        run.stop()
    }

    @Test func aProgramThatASignalEndsHasFailedAndTheReasonIsKept() throws {
        let (session, run) = try Self.run(["--json"], script: "kill -9 $$")
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line = try #require(run.output(containing: #""signal":9"#).split(separator: "\n").last)
        let verdict = try JSONValue(parsing: Array(line.utf8))
        #expect(verdict["result"]?.string == "failed")
        #expect(verdict["handler"]?.string?.hasSuffix("on push.sh") == true)
        #expect(verdict["failure"]?.string == "threw: the program ended without an answer: signal 9")
        #expect(verdict["exit_status"] == nil)
        run.stop()
    }

    @Test func aProgramThatTakesTooLongIsKilledAndHasFailed() throws {
        let (session, run) = try Self.run(["--exec", "sleep 1000", "--exec-timeout", "1s", "--json"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let text = run.output(containing: #""signal":15"#)
        #expect(text.contains(#""failure":"threw: the program did not end within 1.0 s and was killed (signal 15)""#))
        run.stop()
    }

    @Test func thePayloadArrivesByteForByteAndTheEnvironmentSaysWhatItIs() async throws {
        let script = """
            printf '%s|%s|%s|%s|%s|%s|%s\\n' "$KII_PUSH_ID" "$KII_PUSH_KIND" "$KII_PUSH_TOPIC" "$KII_PUSH_BUCKET" \
            "$KII_PUSH_ATTEMPT" "${KII_PUSH_APP_KEY-none}" "${NOTIFY_SOCKET-none}" > "$HOME/environment"
            (( KII_PUSH_DEADLINE > $(date +%s)000 && KII_PUSH_DEADLINE <= $(date +%s)000 + 31000 )) || exit 65
            cat > "$HOME/payload"; cmp - "$HOME/payload" < "$KII_PUSH_PAYLOAD_FILE" || exit 65
            """
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let path = try session.tool.write("#!/bin/bash\n" + script, to: "handle", mode: 0o700)
        // The environment may hold the app key too, because it is the emulator's own.
        let key = try #require(try session.runtimeFile()["appKey"]?.string)
        let run = try session.tool.start(
            ["run", "--exec", path], environment: ["KII_PUSH_APP_KEY": key, "NOTIFY_SOCKET": "/nowhere"])
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        try session.succeed("send", "topic", "alerts", "--data", #"{"msg":"schön \\ \"quoted\" \u0007","n":1.50}"#)
        #expect(run.output(containing: "<-- newData        #1").contains("  exit 0  "))
        let home = session.tool.home
        let environment = try String(contentsOf: home.appending(path: "environment"), encoding: .utf8)
        #expect(environment == "1|pushToUser|alerts||1|none|none\n")
        let reader = try InboxReader(
            stateDirectory: home.appending(path: "state/kii-push/profiles/default").path)
        #expect([UInt8](try Data(contentsOf: home.appending(path: "payload"))) == (try reader.trace(of: 1).payload))
        run.stop()
    }

    @Test func theShellRunsOnlyWhenItIsAskedFor() throws {
        let (session, run) = try Self.run([
            "--shell", "--exec", #"test "$1" = 'a b' && exit 10 | cat; exit 65"#, "--", "a b",
        ])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- dead").contains("exec sh  exit 65"))
        run.stop()
        let plain = try session.tool.start(["run", "--exec", #"test 'a b' = "#, "--", "a b;"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        // The exit code is 1 because the semicolon was part of the word.
        #expect(plain.output(containing: "<-- failed").contains("exec test  exit 1  "))
        plain.stop()
    }

    @Test func asManyCommandsRunAtOnceAsItMay() throws {
        // Each command ends only after it has seen that the other runs.
        let script = """
            touch "$HOME/seen-$KII_PUSH_TOPIC"
            until [[ -e $HOME/seen-one && -e $HOME/seen-two ]]; do sleep 0.05; done
            """
        let session = try EmulatorSession()
        try session.succeed("register")
        for topic in ["one", "two"] {
            try session.succeed("subscribe", topic)
        }
        let path = try session.tool.write("#!/bin/bash\n" + script, to: "handle", mode: 0o700)
        let run = try session.ready(["run", "--exec", path, "--jobs", "2"])
        for topic in ["one", "two"] { try session.succeed("send", "topic", topic, "--data", #"{"msg":"hi"}"#) }
        for number in 1...2 { #expect(run.output(containing: "newData        #\(number)").contains("exit 0")) }
        run.stop()
    }

    @Test func placesThatNobodyNeedsCostNothing() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let words = ["bash", "-c", #"ulimit -n 100; exec "$0" run --exec true --jobs 10000"#, try Tool.executable.path]
        let run = try RunningTool(words, environment: session.tool.environment)
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- newData").contains("exec true  exit 0"))
        run.stop()
    }

    @Test func receivesNothingForACommandThatIsNotThere() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let result = try session.tool("run", "--exec", "no-such-program --flag")
        #expect(result.exit == 66)
        #expect(result.error.contains("there is no program 'no-such-program'"))
    }

    @Test(arguments: [
        (["--exec", "a", "--forward-to", "3000"], "'--exec' and '--forward-to' exclude each other"),
        (["--exec", "a", "--activate", "b"], "'--activate' and '--exec' exclude each other"),
        (["--forward-to", "3000", "--activate", "b"], "'--activate' and '--forward-to' exclude each other"),
        (["--exec", "a", "--concurrency", "2"], "'--concurrency' needs '--activate'"),
        (["--activate", "a", "--jobs", "2"], "'--jobs' needs '--exec' or '--forward-to'"),
        (["--jobs", "2"], "'--jobs' needs '--exec' or '--forward-to'"),
        (["--activate", "a", "--shell"], "'--shell' needs '--exec'"),
        (["--forward-to", "1", "--exec-timeout", "1s"], "'--exec-timeout' needs '--exec'"),
        (["--exec", "a", "--forward-timeout", "1s"], "'--forward-timeout' needs '--forward-to'"),
        (["--exec", "a", "--exec-timeout", "31s"], "'--exec-timeout' is 30s at most"),
        (["--forward-to", "1", "--forward-timeout", "1m"], "'--forward-timeout' is 30s at most"),
        (["--forward-to", "1", "--grace", "1s"], "'--grace' needs '--exec' or '--activate'"),
        (["--exec", "a", "--jobs", "10001"], "expected a whole number from 1 to 10,000"),
        (["--activate", "a", "--concurrency", "9223372036854775807"], "expected a whole number from 1 to 10,000"),
        (["--exec", "a 'b"], "'--exec' has a quote that is not closed"),
        (["--exec", " "], "expected a command"), (["--forward-to", "ftp://a"], "expected an http or https URL"),
    ])
    func contradictionsAreRefused(words: [String], message: String) throws {
        let result = try Tool().start(["run"] + words).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.contains(message))
    }
}

extension String {
    fileprivate var quoted: String { "'\(self)'" }
}

@Suite struct CommandTextTests {
    @Test(arguments: [
        ("a", ["a"]), ("  a\tb\n c ", ["a", "b", "c"]), ("'a b' c", ["a b", "c"]), (#""a b"c"#, ["a bc"]),
        (#"a\ b"#, ["a b"]), (#"'a\b'"#, [#"a\b"#]), (#""a\"b""#, [#"a"b"#]), ("''", [""]), ("a '' b", ["a", "", "b"]),
        ("$HOME *.txt | x; ~", ["$HOME", "*.txt", "|", "x;", "~"]), (#"it\'s"#, ["it's"]),
        (#""it's""#, ["it's"]),
    ])
    func isSplitAtBlanks(text: String, words: [String]) throws {
        #expect(try #require(CommandText(argument: text)).words == words)
    }

    @Test(arguments: ["'a", "\"a", "a\\", "'a\\'b'"])
    func aQuoteThatIsNotClosedIsNoCommand(text: String) throws {
        #expect(try #require(CommandText(argument: text)).words == nil)
    }
}
