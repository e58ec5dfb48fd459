import KiiPushCommandLine

/// Another program has the emulator, with a second stack of TLS. Its page is the command's.
struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator", abstract: "Runs a Kii-style cloud with an MQTT broker on this machine, until stopped.",
        program: "kii-push-emulator")
}
