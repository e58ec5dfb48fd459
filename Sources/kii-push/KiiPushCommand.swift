package import KiiPushCommandLine
import KiiPushCore

package struct KiiPushCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "kii-push",
        abstract: "Receives, sends and looks into Kii-style push messages on Linux.",
        examples: [
            ("A cloud on this machine; every other command finds it", "kii-push emulator &"),
            ("Get ready to receive, then subscribe to a topic", "kii-push register && kii-push subscribe alerts"),
            ("Send to the topic", #"kii-push send topic alerts --data '{"msg":"hi"}'"#),
            ("Show what arrives, what it means, and what the handler answered", "kii-push listen"),
            ("What does this payload mean?", "kii-push explain payload.json"),
        ],
        subcommands: [
            EmulatorCommand.self, RegisterCommand.self, ConfigCommand.self, SubscribeCommand.self,
            UnsubscribeCommand.self, SubscriptionsCommand.self, ListenCommand.self, RunCommand.self,
            InstallUnitCommand.self, SendCommand.self, InboxCommand.self, TraceCommand.self, ReplayCommand.self,
            ExplainCommand.self, DoctorCommand.self, HelpCommand.self, CompleteCommand.self,
        ],
        groups: [
            ("Get ready", ["emulator", "register", "config"]),
            ("Subscriptions", ["subscribe", "unsubscribe", "subscriptions"]),
            ("Receive and send", ["listen", "run", "install-unit", "send"]),
            ("Find out", ["inbox", "trace", "replay", "explain", "doctor"]),
            ("Help", ["help"]),
        ],
        elsewhere: (["fleet", "store", "--store", "--gateway"], "kii-push-gateway"),
        topics: HelpTopic.all.map(\.name), version: UserAgent.version
    )

    package init() {}
}
