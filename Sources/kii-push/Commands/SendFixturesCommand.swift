import KiiPushCommandLine
import KiiPushCore

struct SendFixturesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixtures", abstract: "Lists the built-in examples for '--fixture'.",
        examples: [
            ("What there is", "kii-push send fixtures"),
            ("Send one, with another title", "kii-push send user me --fixture alert --title Bar"),
            ("The data of one, for a program", "kii-push send fixtures --json | jq 'select(.name==\"hello\") | .body'"),
        ]
    )

    @OptionGroup(title: "Output") var output: OutputOptions

    func run() async throws {
        let console = self.output.console
        let messages = MessageFixture.allCases.map { ($0.rawValue, $0.purpose, $0.message.json) }
        let objects = ObjectFixture.allCases.map { ($0.rawValue, $0.purpose, $0.fields) }
        for (uses, fixtures) in [("send topic, send user", messages), ("send object", objects)] {
            try console.line("\(uses):")
            for (name, purpose, body) in fixtures {
                try console.line("  \(name.padded(to: 12))\(purpose)\n              \(body.terminalText)")
                let use = uses == "send object" ? "object" : "message"
                try console.object("fixture", ["name": name, "for": use, "purpose": purpose, "body": body])
            }
        }
    }
}
