import KiiPushCore

struct DecodeCommand: ParsableCommand {
    /// How the payload's keys are spelt.
    enum Keys: String, CaseIterable, ExpressibleByArgument {
        case auto
        case short
        case long
    }

    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Says what a push payload means: kind, source, sender, aps, custom keys.",
        examples: [
            .init("From a file", "kii-push decode payload.json"),
            .init("From standard input", #"echo '{"topic":"alerts","msg":"hi"}' | kii-push decode"#),
            .init("For a program", "kii-push decode --json payload.json | jq .custom"),
        ],
        discussion: [
            "It asks no network. The payload is one JSON object as it arrives over MQTT, or as APNs, GCM and FCM hand it "
                + "to an app."
        ],
        exitCodes: [.badInput, .missingInput]
    )

    @Argument(value: "FILE", help: "The payload; standard input without it, or for '-'.", completion: .file)
    var file: String?

    @Option(value: "KEYS", help: "Kii's keys are short (APNs), long (MQTT, GCM, FCM), or auto: as 'aps' tells.")
    var keys = Keys.auto

    @OptionGroup(title: "Output")
    var output: OutputOptions

    func run() async throws {
        let bytes = try InputFile.read(self.file ?? "-")
        let message =
            switch self.keys {
            case .auto: try ReceivedMessage(payload: bytes)
            case .short: try ReceivedMessage(fromAPNS: bytes)
            case .long: try ReceivedMessage(mqttPayload: bytes)
            }
        let console = self.output.console
        try console.line(MessageText(message, style: console.style).page)
        try console.object("message", message.describingMembers)
        for pointer in message.rawPayload.duplicateKeys {
            console.warning("the key \(pointer.description.terminalSafe) is there twice; the last one counts")
        }
    }
}
