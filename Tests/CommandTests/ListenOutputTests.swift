import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct ListenOutputTests {
    /// Three messages wait: two of a topic and one to the user.
    private func session() throws -> EmulatorSession {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":1}"#)
        try session.succeed("send", "user", "me", "--data", #"{"n":2}"#)
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":3}"#)
        return session
    }

    @Test(arguments: [
        (["--topic", "alerts"], "1 3 "), (["--only", "direct-push"], "2 "), (["--from", "admin"], "1 2 3 "),
        (["--only", "direct-push", "--only", "push-to-user"], "1 2 3 "),
    ])
    func showsWhatIsMeant(words: [String], shown: String) throws {
        let session = try self.session()
        let count = shown.split(separator: " ").count
        let result = try session.tool.start(["listen", "-F", "%{id} ", "-n\(count)", "-t5m"] + words).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output == shown)
    }

    @Test func formatsWhatArrives() throws {
        let session = try self.session()
        let format = #"%i|%k|%{topic}|%{bucket}|%{sender}|%a|%l|%{result}|%%|\t%p\0"#
        let result = try session.tool("listen", "-n3", "-t5m", "-F", format)
        #expect(result.exit == 0, "\(result.error)")
        let lines = result.output.split(separator: "\0")
        #expect(lines.count == 3)
        let first = try #require(lines.first)
        #expect(first.hasPrefix("1|push-to-user|alerts||admin|1|159|newData|%|\t{\"n\":1,"))
        #expect(lines.dropFirst().first?.hasPrefix("2|direct-push|||admin|1|") ?? false)
    }

    @Test func refusesAFormatThatIsNone() throws {
        let wrong = [
            ("%{nothing}", "%{nothing}"), (#"%{time} %{nope}\n"#, "%{nope}"), ("%i %y %i", "%y"), ("100%", "%"),
            ("%{time", "%{time"), (#"\q %i"#, #"\q"#), (#"%i\"#, #"\"#),
        ]
        for (format, part) in wrong {
            let result = try Tool().start(["listen", "-F", format]).waitForExit()
            #expect(result.exit == 64)
            #expect(
                result.error.hasPrefix(
                    "kii-push: the value '\(format)' is invalid for '-F, --format FORMAT': there is no '\(part)'; expected "
                        + "a format such as '%{time} %k %t' ('kii-push help formatting')\n"), "\(result.error)")
        }
        #expect(try Tool()("listen", "--json", "-F", "x").exit == 64)
    }

    @Test(arguments: [("all", "1 2 3 4 "), ("#3", "3 4 "), ("1h", "1 2 3 4 ")])
    func listsWhatWasReceivedBefore(since: String, shown: String) throws {
        let session = try self.session()
        #expect(try session.tool("listen", "-n3", "-t5m").exit == 0)
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":4}"#)
        let result = try session.tool("listen", "--since", since, "-n1", "-t5m", "-F", "%i ")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output == shown)
    }

    @Test func showsWhatWasReceivedBeforeAsItWasShownThen() throws {
        let session = try self.session()
        let live = try session.tool("listen", "-n3", "-t5m")
        #expect(live.exit == 0, "\(live.error)")
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":4}"#)
        let later = try session.tool("listen", "--since", "all", "-n1", "-t5m")
        #expect(later.exit == 0, "\(later.error)")
        func layout(_ text: String) -> [String] {
            text.replacing(/(\d\d:){2}[\d.]+/, with: "TIME").replacing(/#(\d)  [\d.]+ m?s/) { "#\($0.output.1)" }
                .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        // `listen` may have shown the next message before the result of the previous one, so only sorted lines are
        // equal.
        #expect(layout(later.output).prefix(9).sorted() == layout(live.output).sorted())
    }

    @Test func recordsWhatArrives() throws {
        let session = try self.session()
        let path = session.tool.home.path + "/pushes.kpr"
        let result = try session.tool("listen", "-n2", "-t5m", "--topic", "alerts", "--record", path)
        #expect(result.exit == 0)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let values = try lines.map { try JSONValue(parsing: String($0)) }
        #expect(values.map { $0["id"]?.int64 } == [1, 3])
        #expect(values.allSatisfy { $0["type"]?.string == "recorded" })
        #expect(values.first?["payload"]?.string?.hasPrefix(#"{"n":1,"#) ?? false)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let unwritable = try session.tool("listen", "--record", session.tool.home.path)
        #expect(unwritable.exit == 73)
        #expect(unwritable.error == "kii-push: cannot write \(session.tool.home.path): Is a directory\n")
    }

    @Test func addsToARecordingAndToNoOtherFile() throws {
        let session = try self.session()
        let path = session.tool.home.path + "/pushes.kpr"
        for _ in 1...2 { #expect(try session.tool("listen", "-n1", "-t5m", "--record", path).exit == 0) }
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 2)
        for text in ["alias ll='ls -l'\n", "{\"v\":1,\"type\":\"message\"}\n", "\n", "x"] {
            let other = try session.tool.write(text, to: "profile", mode: 0o644)
            let result = try session.tool("listen", "-n1", "--record", other)
            #expect(result.exit == 73)
            #expect(
                result.error == "kii-push: cannot write \(other): it is not empty and no recording\n"
                    + "          name a new file, or a recording to add to\n")
            #expect(try String(contentsOfFile: other, encoding: .utf8) == text)
            let mode = try FileManager.default.attributesOfItem(atPath: other)[.posixPermissions] as? Int
            #expect(mode == 0o644)
        }
    }

    @Test func watchesTheProcessThatReceives() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let first = try session.ready(["listen", "--complete-as", "failed"])
        let watcher = try session.tool.start(["listen"])
        let ready = watcher.error(containing: "> Ready. ")
        #expect(
            ready.hasPrefix("> Watching the process that receives; its handler answers.\n> Ready. "))
        let counted = try session.tool.start(["listen", "-n1", "--json"])
        #expect(counted.output(containing: #""state":"connected""#).contains(#""state":"connected""#))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"seen by all"}"#)
        for output in [first, watcher] {
            let text = output.output(containing: "<-- failed")
            #expect(text.contains(#"--> direct-push    from=admin "#))
            #expect(text.contains(#"msg="seen by all""#))
            #expect(text.contains("attempt 1, retry in 1.0 s"))
        }
        let end = counted.waitForExit()
        #expect(end.exit == 0)
        #expect(end.output.matches(of: /"type":"verdict"/).count == 1)
        first.stop()
        let result = watcher.waitForExit()
        #expect(result.exit == 69)
        #expect(
            result.error.hasSuffix(
                "kii-push: the process that received has ended\n          run it again: it receives itself then\n"))
    }

    enum File: CaseIterable {
        case none, earlier, unreadable
    }

    /// The inbox file of an earlier process has other messages with the same numbers, or is unreadable.
    @Test(arguments: File.allCases) func watchesAProcessWhoseInboxIsInMemory(file: File) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        if file == .unreadable {
            try Data("no database".utf8).write(to: URL(filePath: self.directory(session) + "/inbox.sqlite"))
        } else if file == .earlier {
            try session.succeed("send", "user", "me", "--data", #"{"earlier":true}"#)
            #expect(try session.tool("listen", "-n1", "-t5m").exit == 0)
        }
        let format = #"%i %a %{received} %p\0"#
        let first = try session.ready(["listen", "--in-memory", "-F", format])
        let watcher = try session.ready(["listen", "-n1", "-F", format])
        try session.succeed("send", "user", "me", "--data", #"{"q":"\"é\\","n":12345678901234567890.10}"#)
        let result = watcher.waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains(#"{"q":"\"é\\","n":12345678901234567890.10"#), "\(result.output)")
        #expect(result.output == first.output(containing: "\0"))
        if file == .earlier {
            let refused = try session.tool("inbox", "drop", "1")
            #expect(refused.exit == 74)
            #expect(refused.error.contains("has its inbox in memory, and can only be watched; stop it first\n"))
        }
        first.stop()
    }

    @Test func countsOnWhereNumbersBeginAnew() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let watcher = try {
            let first = try session.ready(["listen", "--in-memory"])
            let watcher = try session.ready(["listen", "-n2"])
            try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
            #expect(watcher.output(containing: "<-- newData        #1").contains("<-- newData        #1"))
            first.stop()
            return watcher
        }()
        let second = try session.tool.start(["listen", "--in-memory"])
        #expect(watcher.error(containing: "> It receives again.").contains("> It receives again."))
        try session.succeed("send", "user", "me", "--data", #"{"n":2}"#)
        let result = watcher.waitForExit()
        #expect(result.exit == 0)
        #expect(result.output.components(separatedBy: "<-- newData        #1").count == 3, "\(result.output)")
        second.stop()
    }

    private func directory(_ session: EmulatorSession) -> String {
        session.tool.home.path + "/state/kii-push/profiles/default"
    }

    @Test func watchesAProgramThatIsNoneOfTheProfiles() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let directory = self.directory(session)
        let without = try session.tool("listen", "--state-directory", directory)
        #expect(without.exit == 69)
        #expect(
            without.error == "kii-push: no program with a control socket receives with \(directory)\n"
                + "          start it, with PushRuntime.Configuration.hasControlSocket set\n")
        let contradiction = try session.tool("listen", "--state-directory", directory, "--exec", "true")
        #expect(contradiction.exit == 64)
        #expect(contradiction.error.contains("'--state-directory' and '--exec' exclude each other"))
        let program = try session.ready(["listen"])
        let watcher = try session.ready(["listen", "--state-directory", directory, "-n1"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let result = watcher.waitForExit()
        #expect(result.exit == 0)
        #expect(result.output.contains(#"msg="hi""#))
        #expect(result.output.contains("<-- newData        #1"))
        program.stop()
    }

    @Test func followsTheNextProcessThatReceives() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let first = try session.ready(["listen"])
        let watcher = try session.ready(["listen", "-n2"])
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        #expect(watcher.output(containing: "<-- newData        #1").contains("<-- newData        #1"))
        first.stop()
        let ended = "> It does not receive any more; "
        #expect(watcher.error(containing: ended).contains(ended))
        let second = try session.tool.start(["listen"])
        let again = "> It receives again. 'kii-push inbox list' has what came meanwhile.\n"
        #expect(watcher.error(containing: again).contains(again))
        try session.succeed("send", "user", "me", "--data", #"{"n":2}"#)
        let result = watcher.waitForExit()
        #expect(result.exit == 0)
        #expect(result.output.contains("n=2"))
        #expect(result.output.contains("<-- newData        #2"))
        second.stop()
    }

    @Test func countsMessagesAndNotTheirAttempts() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let listen = try session.ready(["listen", "-n2", "--complete-as", "failed"])
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        #expect(listen.output(containing: "attempt 2, retry in ").contains("attempt 2, retry in "))
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":2}"#)
        let result = listen.waitForExit()
        #expect(result.exit == 0)
        #expect(result.output.contains("<-- failed         #2  "))
    }

    @Test func keepsNothingInMemory() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        let result = try session.tool("listen", "--in-memory", "-n1", "-t5m")
        #expect(result.exit == 0)
        #expect(result.output.contains("<-- newData        #1"))
        let left = try session.tool("inbox", "list", "--state", "done")
        #expect(!left.output.contains("#1"), "\(left.output)")
    }
}
