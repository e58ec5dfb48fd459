import Foundation
import KiiPushCore
import TestTraits
import Testing

/// `register` asks for a password only at a terminal.
@Suite(.ownThreads) struct PasswordPromptTests {
    /// Runs a program at its own terminal, does something at the prompt, and reports the state of the terminal.
    private static let terminal = """
        import json, os, signal, subprocess, sys, termios
        deed, words = sys.argv[1], sys.argv[2:]
        master, slave = os.openpty()
        child = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        seen, during = b"", None
        while b"assword" not in seen: seen += os.read(master, 4096)
        during = bool(termios.tcgetattr(slave)[3] & termios.ECHO)
        if deed == "type": os.write(master, "corécw\\x7f\\x7f\\x7frect-horse\\n".encode())
        if deed == "twice":
            os.write(master, b"secret-1\\n")
            while seen.count(b"assword") < 2 and b"epeat" not in seen: seen += os.read(master, 4096)
            os.write(master, b"secret-2\\n")
        if deed == "interrupt": os.write(master, b"half\\x03")
        if deed == "kill": child.send_signal(signal.SIGTERM)
        status = child.wait()
        os.set_blocking(master, False)
        try:
            while True: seen += os.read(master, 4096)
        except (BlockingIOError, OSError): pass
        after = bool(termios.tcgetattr(slave)[3] & termios.ECHO)
        print(json.dumps({"status": status, "during": during, "after": after, "text": seen.decode()}))
        """

    private func atTerminal(_ tool: Tool, _ deed: String, _ words: [String]) throws -> JSONValue {
        let command = ["python3", "-c", Self.terminal, deed, try Tool.executable.path] + words
        let result = try RunningTool(command, environment: tool.environment).waitForExit()
        try #require(result.exit == 0, "\(result.error)")
        return try JSONValue(parsing: Array(result.output.utf8))
    }

    @Test func takesWhatIsTypedWithoutShowingIt() throws {
        let session = try EmulatorSession()
        let secret = try session.tool.write("correct-horse\n", to: "secret")
        try session.succeed("register", "-p", "first", "--user", "alice", "--create", "--password-file", secret)
        let answer = try self.atTerminal(session.tool, "type", ["register", "--user", "alice"])
        #expect(answer["status"] == 0, "\(answer)")
        #expect(answer["during"] == false && answer["after"] == true)
        let text = try #require(answer["text"]?.string)
        #expect(text.hasPrefix("Password of user 'alice': \r\n") && !text.contains("horse"))
        #expect(try session.whoami("account") == "user 'alice'")
    }

    @Test func aPasswordOfANewUserIsTypedTwice() throws {
        let session = try EmulatorSession()
        let answer = try self.atTerminal(session.tool, "twice", ["register", "--user", "bob", "--create"])
        #expect(answer["status"] == 78 && answer["after"] == true, "\(answer)")
        #expect(answer["text"]?.string?.contains("the two passwords are not the same") == true)
    }

    @Test(arguments: [("interrupt", 130), ("kill", -15)])
    func leavesTheTerminalAsItWas(deed: String, status: Int) throws {
        let session = try EmulatorSession()
        let answer = try self.atTerminal(session.tool, deed, ["register", "--user", "alice"])
        #expect(answer["status"] == JSONValue(status), "\(answer)")
        #expect(answer["during"] == false && answer["after"] == true)
    }

    @Test func asksNobodyWithoutATerminalOrWhenToldNotTo() throws {
        let session = try EmulatorSession()
        let words = "kii-push: the password of user 'alice' is missing\n"
        for options in [[], ["--no-input"]] {
            let result = try session.tool.start(["register", "--user", "alice"] + options).waitForExit()
            #expect(result.exit == 78 && result.error.hasPrefix(words))
        }
        // The error has the same word as the prompt, so the script takes it for the prompt and continues.
        let told = try self.atTerminal(session.tool, "nothing", ["register", "--user", "alice", "--no-input"])
        #expect(told["status"] == 78 && told["during"] == true, "\(told)")
    }
}
