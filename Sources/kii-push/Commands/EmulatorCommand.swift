import KiiPushCommandLine

/// Runs the emulator as a separate program, which has a second TLS library and its own help.
struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator", abstract: "Runs a Kii-style cloud with an MQTT broker on this machine, until stopped.",
        program: "kii-push-emulator")
}
