import KiiPushCommandLine

/// Runs the emulator as a separate program, because it needs a second TLS library.
struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator", abstract: "Runs a Kii-style cloud with an MQTT broker on this machine, until stopped.",
        program: "kii-push-emulator")
}
