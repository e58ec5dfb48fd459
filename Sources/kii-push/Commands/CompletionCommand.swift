struct CompletionCommand: ParsableCommand {
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish
    }

    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Prints the script that lets a shell complete the words of kii-push.",
        examples: [
            .init("bash, in ~/.bashrc", #"eval "$(kii-push completion bash)""#),
            .init("zsh, in ~/.zshrc, below compinit", "source <(kii-push completion zsh)"),
            .init("fish, once", "kii-push completion fish > ~/.config/fish/completions/kii-push.fish"),
        ],
        discussion: [
            "Commands, options and their values are in the script: make it again after an update. Profiles and messages "
                + "are looked up when they are asked for; that asks no network."
        ]
    )

    @Argument(value: "SHELL", help: "bash, zsh or fish.") var shell: Shell

    func run() async throws {
        let tool = CommandDescription(KiiPushCommand.self)
        let script =
            switch self.shell {
            case .bash: BashCompletion(tool).script
            case .zsh: ZshCompletion(tool).script
            case .fish: FishCompletion(tool).script
            }
        try StandardStream.output.write(script)
    }
}
