import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct OutputTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    private func bash(_ line: String) throws -> Tool.Result {
        var environment = self.tool.environment
        environment["PATH"] = try Tool.executable.deletingLastPathComponent().path + ":" + (environment["PATH"] ?? "")
        return try RunningTool(["bash", "-c", line], environment: environment).waitForExit()
    }

    @Test func aReaderThatGoesAwayIsNoFailure() throws {
        let first = try self.bash(#"kii-push help | head -1; exit "${PIPESTATUS[0]}""#)
        #expect(first.exit == 0)
        #expect(first.output == "Receives, sends and looks into Kii-style push messages on Linux.\n")
        #expect(first.error == "")
        // This reader closes the pipe before the first write.
        let none = try self.bash("cd; mkfifo pipe; exec 3<> pipe 4> pipe 3<&-; kii-push help >&4")
        #expect(none.exit == 0)
        #expect(none.output + none.error == "")
    }

    @Test(arguments: ["help", "--version", "help --tree", "help exit-codes"])
    func outputThatCannotBeWrittenIsOneLine(words: String) throws {
        let closed = try self.bash("kii-push \(words) >&-")
        #expect(closed.exit == 74)
        #expect(closed.error == "kii-push: cannot write the output: Bad file descriptor\n")
        let full = try self.bash("kii-push \(words) > /dev/full")
        #expect(full.exit == 74)
        #expect(full.error == "kii-push: cannot write the output: No space left on device\n")
    }

    @Test func nothingElseIsOpenedInThePlaceOfAClosedStream() throws {
        // Descriptor 1 is free: the unit's file would get the number of the closed output.
        let unit = "kii-push install-unit --user --directory ."
        let result = try self.bash("cd; \(unit) >&- 2>&- <&-; head -1 kii-push.service")
        #expect(result.output.hasPrefix("# Written by 'kii-push install-unit --user'."))
        #expect(try self.bash("kii-push nonsense 2>&-").exit == 64)
        let input = try self.bash("kii-push explain <&-")
        #expect(input.exit == 66)
        #expect(input.error == "kii-push: cannot read standard input: Bad file descriptor\n")
    }

    @Test func quietLeavesOutWhatWasDone() throws {
        let session = try EmulatorSession()
        let quiet: [[String]] = [
            ["register"], ["subscribe", "alerts"], ["send", "topic", "alerts", "--data", "{}"],
            ["send", "user", "me", "--data", "{}"], ["send", "object", "notes", "--data", "{}"],
            ["unsubscribe", "alerts"],
        ]
        for words in quiet {
            let result = try session.tool.start(words + ["-q"]).waitForExit()
            #expect(result.exit == 0)
            #expect(result.output + result.error == "", "\(words)")
        }
        // `-q` still prints the requested result, and JSON for programs.
        #expect(try session.tool("config", "show", "-q").output.hasPrefix("profile       default\n"))
        #expect(try session.tool("register", "-q", "--json").output.hasPrefix(#"{"v":1,"type":"registration""#))
        let sent = try session.tool("send", "user", "me", "--data", "{}", "-q", "--json")
        #expect(sent.output.hasPrefix(#"{"v":1,"type":"sent""#))
    }

    @Test(arguments: ["", "\n"]) func anEmptySecretIsAMatterOfConfiguration(content: String) throws {
        let path = try self.tool.write(content, to: "secret")
        let cloud = ["register", "--base-url", "http://127.0.0.1:1/api", "--app-id", "a"]
        let key = try self.tool.start(cloud + ["--app-key-file", path]).waitForExit()
        #expect(key.exit == 78)
        #expect(key.error == "kii-push: \(path) is empty\n")
        let named = cloud + ["--user", "u"]
        let environment = ["KII_PUSH_APP_KEY": "k"]
        let password = try self.tool.start(named + ["--password-file", path], environment: environment).waitForExit()
        #expect(password.exit == 78)
        #expect(password.error == "kii-push: \(path) is empty\n")
        let input = try self.tool.start(named + ["--password-stdin"], input: content, environment: environment)
            .waitForExit()
        #expect(input.exit == 78)
        #expect(input.error.hasPrefix("kii-push: the first line of standard input is empty"))
        let file = #"{"version":1,"profiles":{"default":{"appKey":""}}}"#
        let credentials = try self.tool.write(file, to: "config/kii-push/credentials.json")
        let saved = try self.tool("config", "show")
        #expect(saved.exit == 78)
        #expect(saved.error == "kii-push: \(credentials):1:46: /profiles/default/appKey is empty\n")
    }

    @Test func anAddressOfAnotherSchemeIsNamedFirst() throws {
        let option = try self.tool("register", "--base-url", "ftp://x")
        #expect(option.exit == 64)
        let message = "kii-push: the cloud's address must begin with https:// or http://"
        let hint = "\n          write it as https://api-jp.kii.com/api\n"
        #expect(option.error == "\(message), not ftp://\(hint)")
        #expect(try self.tool("register", "--base-url", "api.kii.com").error == message + hint)
        let environment = try self.tool("register", environment: ["KII_PUSH_BASE_URL": "ftp://x"])
        #expect(environment.exit == 78)
        #expect(environment.error == "\(message), not ftp://\(hint)")
        let right = try self.tool("register", "--base-url", "HTTPS://x/api")
        #expect(right.error.hasPrefix("kii-push: the app's ID of profile 'default' is missing\n"))
    }
}
