import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

/// Colours and width, which depend on the output's terminal. script(1) provides the terminals.
@Suite(.ownThreads) struct TerminalTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var options = ""
        var environment: [String: String] = [:]
        var isTerminal = true
        var isColored: Bool

        var testDescription: String {
            let variables = self.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
            return variables + "explain \(self.options)" + (self.isTerminal ? "" : " | cat")
        }
    }

    static let cases: [Case] = [
        Case(isColored: true),
        Case(isTerminal: false, isColored: false),
        Case(options: "--color never", isColored: false),
        Case(options: "--color always", isTerminal: false, isColored: true),
        Case(options: "--color always", environment: ["NO_COLOR": "1", "TERM": "dumb"], isColored: true),
        Case(options: "--color never", environment: ["CLICOLOR_FORCE": "1"], isColored: false),
        Case(environment: ["NO_COLOR": "1"], isColored: false),
        Case(environment: ["NO_COLOR": ""], isColored: true),
        Case(environment: ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], isColored: false),
        Case(environment: ["CLICOLOR": "0"], isColored: false),
        Case(environment: ["CLICOLOR": "1"], isTerminal: false, isColored: false),
        Case(environment: ["CLICOLOR": "0", "CLICOLOR_FORCE": "1"], isColored: true),
        Case(environment: ["CLICOLOR_FORCE": "1"], isTerminal: false, isColored: true),
        Case(environment: ["CLICOLOR_FORCE": "0"], isTerminal: false, isColored: false),
        Case(environment: ["CLICOLOR_FORCE": ""], isTerminal: false, isColored: false),
        Case(environment: ["TERM": "dumb"], isColored: false),
        Case(environment: ["TERM": "dumb", "CLICOLOR_FORCE": "1"], isColored: true),
    ]

    /// A command that warns on standard error and fails.
    private static let warning =
        "KII_PUSH_APP_KEY=k kii-push subscriptions --insecure --base-url http://127.0.0.1:1/api --app-id a"

    private let tool: Tool
    private let payload: String

    init() throws {
        self.tool = try Tool()
        self.payload = try self.tool.write(#"{"topic":"alerts","a":1,"a":2}"#, to: "payload.json")
    }

    /// Runs a line of sh(1), on a terminal or not, and returns the visible text.
    private func seen(_ line: String, _ environment: [String: String] = [:], onTerminal: Bool = true) throws -> String {
        var environment = ["TERM": "xterm"].merging(self.tool.environment) { $1 }.merging(environment) { $1 }
        environment["PATH"] = try Tool.executable.deletingLastPathComponent().path + ":" + (environment["PATH"] ?? "")
        let words = onTerminal ? ["script", "-qec", line, "/dev/null"] : ["sh", "-c", "(\(line)) 2>&1 | cat"]
        let result = try RunningTool(words, environment: environment).waitForExit()
        #expect(result.exit == 0)
        return result.output.replacing("\r\n", with: "\n")
    }

    @Test(arguments: cases) func colorsFollowTheRules(example: Case) throws {
        let line = "kii-push explain \(self.payload) \(example.options); \(Self.warning) \(example.options) || true"
        let text = try self.seen(line, example.environment, onTerminal: example.isTerminal)
        #expect(text.contains("\u{1b}[1m") == example.isColored)
        #expect(text.contains("\u{1b}[33mwarning:\u{1b}[0m") == example.isColored)
        #expect(text.contains("warning:"))
        #expect(text.contains("\u{1b}[") == example.isColored)
    }

    @Test func eachStreamIsLookedAtByItself() throws {
        let file = self.tool.home.path + "/seen"
        let line = "(kii-push explain \(self.payload); \(Self.warning) || true)"
        let output = try self.seen("\(line) 2> \(file)")
        #expect(output.contains("\u{1b}["))
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("warning:"))
        let errors = try self.seen("\(line) > \(file)")
        #expect(errors.hasPrefix("\u{1b}[33mwarning:"))
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("\u{1b}"))
    }

    /// The longest line, except lines to copy, which the tool does not wrap.
    private func width(_ help: String) -> Int {
        help.split(separator: "\n").filter { !$0.contains("kii-push") && !$0.hasPrefix("  #") }.map(\.count).max() ?? 0
    }

    @Test func helpFollowsTheTerminal() throws {
        // Below 40 columns the width stays 40, and one word can be longer than its column.
        for (columns, range) in [(60, 50...60), (90, 81...90), (200, 91...100), (20, 30...45)] {
            let text = try self.seen("stty cols \(columns); kii-push help register")
            #expect(range.contains(self.width(text)), "\(columns): \(self.width(text))")
        }
        let named = try self.seen("stty cols 60; kii-push register --help", ["COLUMNS": "90"])
        #expect((81...90).contains(self.width(named)))
        for columns in ["60", "90"] {
            let text = try self.seen("kii-push help register", ["COLUMNS": columns], onTerminal: false)
            #expect((71...80).contains(self.width(text)))
        }
        for topic in HelpTopic.all.map(\.name) {
            let narrow = try self.seen("stty cols 60; kii-push help \(topic)").split(separator: "\n")
            let isCopied = { (line: Substring) in
                (line.hasPrefix("    ") && line.contains("{")) || line.hasPrefix("  kii-push")
            }
            #expect(narrow.filter { $0.count > 60 && !isCopied($0) } == [], "\(topic)")
            let wide = try self.seen("stty cols 100; kii-push help \(topic)").split(separator: "\n")
            #expect(wide.count < narrow.count, "\(topic)")
        }
    }

    @Test func aCommandThatWaitsSaysSo() throws {
        let (listener, port) = try Loopback.listening()
        defer { close(listener) }
        // The server never accepts the connections.
        let line = "KII_PUSH_APP_KEY=k kii-push register --insecure --base-url http://127.0.0.1:\(port)/api --app-id a"
        let seen = try self.seen("\(line) --timeout 2500ms || true")
        // The tool erases the note when it has something to print.
        let note = /\r\u{1b}\[Kwaiting [12]\.\d s   \^C to quit/
        #expect(seen.contains(note))
        let rest = seen.replacing(note, with: "").replacing("\r\u{1b}[K", with: "")
        #expect(rest.contains("kii-push: "))
        #expect(!rest.contains("waiting") && !rest.contains("\u{1b}[K"))
        for quieter in ["-q", "--json", "2>&1 | cat"] {
            let silent = try self.seen("\(line) --timeout 1100ms \(quieter) || true")
            #expect(!silent.contains("waiting"))
        }
        let dumb = try self.seen("\(line) --timeout 1100ms || true", ["TERM": "dumb"])
        #expect(!dumb.contains("waiting"))
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("日本", 4), ("한국", 4), ("ﾊﾝ", 2), ("Ａ", 2), ("e\u{301}", 1), ("👍", 2), ("👨‍👩‍👧", 2),
        ("❤\u{fe0f}", 2), ("🇯🇵", 2), ("a\u{200b}b", 2), ("é", 1), ("…", 1), ("\u{5d0}\u{5b8}", 1),
    ])
    func columnsAreCountedAsATerminalDoes(text: String, columns: Int) {
        #expect(text.displayWidth == columns)
        #expect("\(text.padded(to: 6))|".displayWidth == 7)
    }

    @Test func wideKeysStayInTheirColumn() throws {
        let path = try self.tool.write(#"{"日本語":1,"plain":2,"👍":3}"#, to: "wide.json")
        let lines = try self.tool("explain", path).output.split(separator: "\n").filter { $0.hasPrefix("  /") }
        #expect(lines == ["  /日本語                1", "  /plain                 2", "  /👍                    3"])
    }

    @Test(arguments: [
        ("a\u{200b}b\u{ad}c", #"a\u200bb\u00adc"#), ("\u{e0041}\u{e007f}", #"\udb40\udc41\udb40\udc7f"#),
        ("\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}", #"\u202e\u2066\u200f\u061c\u2028"#),
        ("\u{2060}\u{2064}\u{feff}\u{180e}\u{3164}\u{fff9}", #"\u2060\u2064\ufeff\u180e\u3164\ufff9"#),
        // Joiners and variation selectors are escaped among Latin letters, and kept where a script or emoji needs them.
        ("pay\u{200d}pal\u{fe0f}", #"pay\u200dpal\ufe0f"#),
        ("👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥", "👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥"),
        ("می\u{200c}خواهم", "می\u{200c}خواهم"), ("क\u{200d}\u{200d}", "क\u{200d}\\u200d"), ("\u{200d}", #"\u200d"#),
        ("schön e\u{301} 日本 \\", "schön e\u{301} 日本 \\\\"),
    ])
    func whatCannotBeSeenIsEscaped(text: String, shown: String) throws {
        #expect(Array(text.terminalSafe.unicodeScalars) == Array(shown.unicodeScalars))
        let payload = try self.tool.write(#"{"msg":"\#(text.replacing("\\", with: ""))"}"#, to: "text.json")
        let output = try self.tool("explain", payload, "--json").output
        let line = try JSONValue(parsing: Array(output.prefix { $0 != "\n" }.utf8))
        #expect(line["type"] != nil)
        #expect(!output.unicodeScalars.contains("\u{200b}") && !output.unicodeScalars.contains("\u{e0041}"))
    }
}
