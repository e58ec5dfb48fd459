struct CompletionCommand: ParsableCommand {
    enum Shell: String, CaseIterable, ExpressibleByArgument { case bash, zsh, fish }

    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Prints the script that lets a shell complete the words of kii-push.",
        examples: [
            ("bash, in ~/.bashrc", #"eval "$(kii-push completion bash)""#),
            ("zsh, in ~/.zshrc, below compinit", "source <(kii-push completion zsh)"),
            ("fish, once", "kii-push completion fish > ~/.config/fish/completions/kii-push.fish"),
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
            case .bash: BashCompletion(commands: tool.withAllBelow).script
            case .zsh: ZshCompletion(tool: tool).script
            case .fish: FishCompletion(tool: tool).script
            }
        try StandardStream.output.write(script)
    }
}
