import KiiPushCommandLine
import KiiPushCore

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Shows what is configured and where it was said. Asks no network.",
        examples: [
            ("Which settings hold, and why", "kii-push config show --origin")
        ],
        subcommands: [ConfigShowCommand.self]
    )
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows who the profile is, and every setting with the value that holds.",
        examples: [
            ("The values", "kii-push config show"),
            (
                "The ID of a profile's user",
                "kii-push -p work config show --json | jq -r 'select(.name==\"user\").value'"
            ),
            ("And who said so", "kii-push config show --origin"),
            ("What would hold with this option?", "kii-push config show --origin --site jp"),
        ],
        discussion: [
            "An option wins over the environment, that over the user's file, that over the system's, that over what the "
                + "profile was registered with or the running emulator says. Secrets are not shown: <set> says that "
                + "there is one. What 'run' is to do is shown as the file says it, member by member. Then come what "
                + "'register' made (the account, the ID of its user or thing, the installation) and, with --origin, the files "
                + "that are looked at."
        ],
        exitCodes: [.configuration, .missingInput],
        environment: EnvironmentVariable.ofCloudCommands + [
            .password, .configurationHome, .configurationDirectories, .stateHome, .stateDirectory,
            .credentialsDirectory,
        ]
    )

    @Flag(help: "Show where each value was said: option, environment, file with line and column; and the files.")
    var origin = false

    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions

    func run() async throws {
        let console = self.output.console
        let profile = try Profile(self.profile)
        let settings = try ShownSetting.all(of: profile, self.profile)
        for setting in settings + (self.origin ? ShownSetting.files(of: profile.location) : []) {
            let value = setting.isSecret ? (setting.value == nil ? nil : "<set>") : setting.value
            let origin = self.origin ? (value == nil ? "" : "  (\(setting.origin.text.terminalSafe))") : ""
            let name = setting.name.count < 14 ? setting.name.padded(to: 14) : setting.name + "  "
            try console.line(name + (value?.terminalSafe ?? "-") + origin)
            let isSet = setting.value != nil
            try console.object(
                "setting",
                [
                    "name": setting.name, "secret": setting.isSecret, "set": isSet,
                    "value": setting.isSecret ? Optional.none : setting.value,
                    "origin": isSet ? setting.origin.json : Optional.none,
                ])
        }
    }
}
