import KiiPushCommandLine
import KiiPushCore

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says what a push payload means, why, and what is wrong with it. Asks no network.",
        examples: [
            ("From a file", "kii-push explain payload.json"),
            ("From standard input", #"echo '{"topic":"alerts","msg":"hi"}' | kii-push explain"#),
            ("For a program", "kii-push explain --json payload.json | jq .decided_by"),
            ("In a build: fail if something is wrong with it", "kii-push explain --lint -q payload.json"),
        ],
        discussion: [
            "The payload is one JSON object as it arrives over MQTT, or as APNs, GCM and FCM hand it to an app. Shown are "
                + "its kind and the key that decides about it, every key with its meaning and where that is written, "
                + "what is taken for custom data or ignored, and findings: errors (receivers leave that part out), "
                + "warnings, and notes, which are right under conditions.",
            "A payload that receivers refuse (no JSON, no object, a thing-if command) ends with 65, with --lint also one "
                + "with errors or warnings. Places are JSON Pointers (RFC 6901), or line and column where it is no JSON.",
        ],
        exitCodes: [.badInput, .missingInput]
    )

    @Argument(value: "FILE", help: "The payload; standard input without it, or for '-'.", completion: .file)
    var file: String?

    @Option(value: "KEYS", help: "Kii's keys are short (APNs), long (MQTT, GCM, FCM), or auto: as 'aps' tells.")
    var keys = PayloadExplanation.Keys.auto

    @Flag(help: "End with 65 when there are errors or warnings among the findings.") var lint = false
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() async throws {
        let bytes = try InputFile.read(self.file ?? "-")
        let console = self.output.console
        let explanation: PayloadExplanation
        do throws(MessageError) {
            explanation = try PayloadExplanation(bytes, keys: self.keys)
        } catch {
            try console.object("explanation", ["refused": error.json(of: bytes), "findings": JSONValue([])])
            throw error.failure(of: bytes)
        }
        if !self.lint || !self.output.quiet { try console.line(explanation.text(console.style)) }
        try console.object("explanation", explanation.members)
        guard self.lint, explanation.hasProblems else { return }
        throw CommandFailure(.badInput, explanation.complaint)
    }
}
