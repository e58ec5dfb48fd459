import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

/// A person at a terminal, from the first command to ^C. The test prints the screen.
@Suite(.ownThreads) struct TerminalSessionTests {
    @Test func anEveningWithListen() throws {
        let terminal = try TmuxTerminal()
        try terminal.tool.write(
            """
            #!/bin/sh
            case "$(cat)" in
            *'"n":1,'*) exit 0 ;;
            *'"n":2,'*) exit 65 ;;
            *) [ "$KII_PUSH_ATTEMPT" -gt 1 ] ;;
            esac
            """, to: "on-push", mode: 0o700)
        let (cloud, sender, person) = (try terminal.window(), try terminal.window(), try terminal.window())
        let emulator = (["kii-push", "emulator"] + EmulatorSession.freePorts()).joined(separator: " ")
        try cloud.type(emulator)
        cloud.wait(for: "> Ready. ")
        try person.type("kii-push register")
        // The last line of the output: earlier typing would appear within the output.
        person.wait(for: "state         ")
        try person.type("kii-push subscribe alerts")
        person.wait(for: "subscribed alerts")
        try person.type("kii-push listen --exec ./on-push")
        person.wait(for: "> Ready. ")

        func send(_ number: Int) throws { try sender.type(#"kii-push send topic alerts -d '{"n":\#(number)}'"#) }
        try send(1)
        person.wait(for: "#1  exec ./on-push  exit 0")
        try send(2)
        person.wait(for: "#2  exec ./on-push  exit 65")
        try send(3)
        person.wait(for: "attempt 1, retry in 1.0 s")
        person.wait(for: "#3  exec ./on-push  exit 0")
        try cloud.press("C-c")
        cloud.wait(for: "stopped")
        person.wait(for: "offline")
        try cloud.type(emulator)
        person.wait(for: "> Ready. ", times: 2)
        try send(1)
        person.wait(for: "#4  exec ./on-push  exit 0")
        try person.press("C-c")
        try person.type("echo ended with $?")
        person.wait(for: "ended with 130")
        try cloud.press("C-c")
        cloud.wait(for: "stopped", times: 2)

        let screen = try person.screen()
        print(screen)
        let time = #"\d\d:\d\d:\d\d\.\d{3}"#
        let steps = [
            // Text typed before the prompt appears before it. Later output follows the prompt.
            #"kii-push register[$# ]*\n"#, #"\ninstallation  [0-9a-z]{25}\n"#, #"kii-push subscribe alerts[$# ]*\n"#,
            #"\nsubscribed alerts\n"#, #"kii-push listen --exec ./on-push[$# ]*\n"#,
            #"\n[$# ]*> Ready\. mqtts://127\.0\.0\.1:\d+, QoS 1, session resumed   \^C to quit\n  Installation [0-9a-z]{8}…, MQTT 3\.1\.1\. Times are UTC\.\n"#,
            #"\n\#(time) --> push-to-user   topic=alerts             159 B  #1\n                 n=1\n"#,
            #"\n\#(time) <-- newData        #1  exec ./on-push  exit 0  [\d.]+ m?s\n"#,
            #"\n\#(time) --> push-to-user   topic=alerts             159 B  #2\n                 n=2\n"#,
            #"\n\#(time) <-- dead           #2  exec ./on-push  exit 65  [\d.]+ m?s  rejected: [^\n]+; kept in the inbox\n"#,
            #"\n\#(time) <-- failed         #3  exec ./on-push  exit 1  [\d.]+ m?s  attempt 1, retry in 1\.0 s\n"#,
            #"\n\#(time) --> push-to-user   topic=alerts             159 B  #3  attempt 2\n                 n=3\n"#,
            #"\n\#(time) <-- newData        #3  exec ./on-push  exit 0  [\d.]+ m?s\n"#,
            #"\n\#(time)  !  offline        [^\n]+; retry in [^\n]+\n"#, #"\n> Ready\. mqtts"#,
            #"\n\#(time) <-- newData        #4  exec ./on-push  exit 0  [\d.]+ m?s\n"#, #"ended with 130\n"#,
        ]
        var rest = screen[...]
        for step in steps {
            let match = try #require(try Regex(step).firstMatch(in: rest), "not there, or not in this order: \(step)")
            rest = rest[rest.index(before: match.range.upperBound)...]
        }
    }
}

/// Windows of tmux, with a shell in each.
private final class TmuxTerminal {
    let tool: Tool
    private let environment: [String: String]

    init() throws {
        self.tool = try Tool()
        var environment = self.tool.environment
        environment["PATH"] = try Tool.executable.deletingLastPathComponent().path + ":" + (environment["PATH"] ?? "")
        environment["TERM"] = "xterm"
        environment["LC_ALL"] = "C.UTF-8"
        self.environment = environment
        // As wide as the longest line: wrapped lines are hard to compare.
        try self.tmux("new-session", "-d", "-x", "200", "-y", "100", "sh")
    }

    deinit { _ = try? self.tmux("kill-server") }

    func window() throws -> Window {
        let name = try self.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-c", self.tool.home.path, "sh")
        return try Window(self, name.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @discardableResult
    fileprivate func tmux(_ words: String...) throws -> String {
        let path = self.tool.home.path + "/tmux"
        let result = try RunningTool(
            ["tmux", "-u", "-f", "/dev/null", "-S", path] + words, environment: self.environment
        ).waitForExit()
        try #require(result.exit == 0, "\(words): \(result.error)")
        return result.output
    }

    fileprivate func follow(_ file: String) throws -> ChildProgram {
        try ChildProgram(["tail", "-n", "+1", "-F", file], environment: self.environment, input: nil)
    }

    final class Window {
        private let terminal: TmuxTerminal
        private let name: String
        private let reader: ChildProgram

        init(_ terminal: TmuxTerminal, _ name: String) throws {
            self.terminal = terminal
            self.name = name
            let file = terminal.tool.home.path + "/window" + name.dropFirst()
            try Data().write(to: URL(filePath: file))
            try terminal.tmux("pipe-pane", "-t", name, "cat >>'\(file)'")
            self.reader = try terminal.follow(file)
        }

        deinit { self.reader.signal(SIGKILL) }

        func type(_ line: String) throws {
            try self.terminal.tmux("send-keys", "-t", self.name, "-l", line)
            try self.press("Enter")
        }

        func press(_ key: String) throws { try self.terminal.tmux("send-keys", "-t", self.name, key) }

        func wait(for text: String, times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) {
            let shown = self.reader.output.wait(600) { $0.ranges(of: text).count >= times }
            #expect(shown.ranges(of: text).count >= times, "\(shown)", sourceLocation: sourceLocation)
        }

        /// The window's whole text, from the beginning.
        func screen() throws -> String {
            try self.terminal.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", self.name)
                .split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces).isEmpty ? "" : String($0) }
                .map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
                .joined(separator: "\n")
        }
    }
}
