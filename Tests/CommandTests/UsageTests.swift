import TestTraits
import Testing

@Suite(.ownThreads) struct UsageTests {
    struct Case: CustomTestStringConvertible {
        var arguments: [String]
        var message: String
        var help = "kii-push"

        var testDescription: String { "kii-push " + self.arguments.joined(separator: " ") }
    }

    private static let cases: [Case] = [
        Case(arguments: ["explian"], message: "unknown command 'explian'; did you mean 'explain'?"),
        Case(arguments: ["frobnicate"], message: "unknown command 'frobnicate'"),
        Case(
            arguments: ["send", "alerts", "--data", "{}"],
            message: "unknown command 'alerts'; did you mean 'send topic alerts'?",
            help: "kii-push send"
        ),
        Case(
            arguments: ["send", "tpoic", "alerts"],
            message: "unknown command 'tpoic'; did you mean 'topic'?",
            help: "kii-push send"
        ),
        Case(arguments: ["--json", "explain"], message: "'--json' comes before a command; put it after the command"),
        Case(
            arguments: ["explain", "--jsno"],
            message: "unknown option '--jsno'; did you mean '--json'?",
            help: "kii-push explain"
        ),
        Case(
            arguments: ["explain", "--frobnicate"], message: "unknown option '--frobnicate'", help: "kii-push explain"),
        Case(arguments: ["explain", "-x"], message: "unknown option '-x'", help: "kii-push explain"),
        Case(arguments: ["explain", "-qx"], message: "unknown option '-x'", help: "kii-push explain"),
        Case(arguments: ["explain", "a", "b"], message: "unexpected argument 'b'", help: "kii-push explain"),
        Case(arguments: ["explain", "--color"], message: "missing value for '--color WHEN'", help: "kii-push explain"),
        Case(
            arguments: ["explain", "--color", "--json"],
            message: "missing value for '--color WHEN' (a value that starts with '-' is written --color=--json)",
            help: "kii-push explain"
        ),
        Case(
            arguments: ["explain", "--color", "blue"],
            message: "the value 'blue' is invalid for '--color WHEN': expected one of auto, always, never",
            help: "kii-push explain"
        ),
        Case(
            arguments: ["explain", "--color="],
            message: "the value '' is invalid for '--color WHEN': expected one of auto, always, never",
            help: "kii-push explain"
        ),
        Case(
            arguments: ["explain", "--quiet=yes"],
            message: "'-q, --quiet' takes no value",
            help: "kii-push explain"
        ),
    ]

    @Test(arguments: cases)
    func saysWhatIsWrongAndWhereToRead(example: Case) throws {
        let result = try Tool().start(example.arguments).waitForExit()
        #expect(result.exit == 64)
        #expect(result.output == "")
        let hint = "see '\(example.help) --help'"
        if example.arguments.contains("--json") {
            let facts = #""category":"usage","message":"\#(example.message)","hint":"\#(hint)","exit":64"#
            #expect(result.error == #"{"v":1,"type":"error",\#(facts)}"# + "\n")
        } else {
            #expect(result.error == "kii-push: \(example.message)\n          \(hint)\n")
        }
    }

    @Test func theAdviceOfAProgramWithALongerNameStandsBelowItsMessage() throws {
        let result = try Tool("kii-push-emulator")("-x")
        #expect(result.exit == 64)
        #expect(
            result.error == """
                kii-push-emulator: unknown option '-x'
                                   see 'kii-push-emulator --help'

                """)
    }

    @Test func theProfileMayStandBeforeTheCommand() throws {
        let tool = try Tool()
        for words in [["-p", "work"], ["-pwork"], ["--profile", "work"], ["--profile=work"]] {
            let result = try tool.start(words + ["config", "show"]).waitForExit()
            #expect(result.exit == 0, "\(result.error)")
            #expect(result.output.hasPrefix("profile       work\n"))
        }
        let needless = try tool("-p", "work", "explain")
        #expect(needless.exit == 64)
        #expect(needless.error.hasPrefix("kii-push: unknown option '-p'\n"))
        let twice = try tool("-p", "work", "config", "show", "-p", "home")
        #expect(twice.output.hasPrefix("profile       home\n"))
    }

    @Test func noCommandListsTheCommands() throws {
        let result = try Tool()("-p", "work")
        #expect(result.exit == 64)
        #expect(result.error.hasPrefix("kii-push: a command is missing: one of "))
        #expect(result.error.hasSuffix("\n          see 'kii-push --help'\n"))
    }

    @Test func isOneObjectOnStandardErrorWithJSON() throws {
        let result = try Tool()("explain", "--json", "--color", "blue")
        #expect(result.exit == 64)
        #expect(result.output == "")
        let message = "the value 'blue' is invalid for '--color WHEN': expected one of auto, always, never"
        #expect(
            result.error == """
                {"v":1,"type":"error","category":"usage","message":"\(message)",\
                "hint":"see 'kii-push explain --help'","exit":64}

                """
        )
    }

    @Test func escapesWhatCouldDriveTheTerminal() throws {
        let result = try Tool()("\u{1b}[2Jexplain")
        #expect(result.exit == 64)
        #expect(result.error.hasPrefix(#"kii-push: unknown command '\u001b[2Jexplain'"#))
    }
}
