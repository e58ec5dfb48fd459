/// The completion script for fish: one `complete` for each command, option and value.
struct FishCompletion {
    let tool: CommandDescription

    var script: String {
        let commands = self.tool.withAllBelow
        return """
            # fish completion for kii-push; made by 'kii-push completion fish'

            # Whether the words before the cursor name this command.
            function __kii_push_at
                set -l command kii-push
                set -l words (commandline -opc)
                for word in $words[2..]
                    switch "$command $word"
            \(commands.flatMap(self.cases).joined(separator: "\n"))
                        case '*'
                            break
                    end
                end
                test "$command" = "$argv"
            end

            # What the tool itself says there is of this kind.
            function __kii_push_ask
                set -l words (commandline -opc)
                $words[1] complete $argv[1] -- $words[2..] 2>/dev/null
            end

            complete -c kii-push -f
            \(commands.map(self.lines).joined(separator: "\n"))

            """
    }

    private func cases(_ command: CommandDescription) -> [String] {
        command.subcommands.map { next in
            let patterns = next.names.map { "'\(command.path) \($0)'" }.joined(separator: " ")
            return "            case \(patterns)\n                set command '\(next.path)'"
        }
    }

    private func lines(_ command: CommandDescription) -> String {
        let start = "complete -c kii-push -n '__kii_push_at \(command.path)'"
        let subcommands = command.subcommands.map {
            "\(start) -a \($0.name) -d \(Self.quoted($0.configuration.abstract))"
        }
        let positionals = command.positionals.compactMap { Self.value($0.completion).map { "\(start) \($0)" } }
        let options = command.options.map { option in
            let names = [option.short.map { "-s \($0)" }, option.long.map { "-l \($0)" }].compactMap { $0 }
            var words = [start] + names
            if option.needsValue {
                let value = Self.value(option.completion)
                words.append(option.completion == .file ? "-r -F" : value.map { "-x \($0)" } ?? "-x")
            }
            return (words + ["-d \(Self.quoted(option.helpWithDefault))"]).joined(separator: " ")
        }
        return (subcommands + positionals + options).joined(separator: "\n")
    }

    private static func value(_ completion: CompletionKind) -> String? {
        switch completion {
        case .none: nil
        case .words(let words): "-a \(Self.quoted(words.joined(separator: " ")))"
        case .file: "-F"
        case .directory: "-a '(__fish_complete_directories)'"
        case .program: "-a '(__fish_complete_command)'"
        case .asked(let question): "-a '(__kii_push_ask \(question.rawValue))'"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
