/// The completion script for bash: finds the command that the words before the cursor name, then what is to come next.
struct BashCompletion {
    let commands: [CommandDescription]

    var script: String {
        """
        # bash completion for kii-push; made by 'kii-push completion bash'

        # Offers those of the words that begin with what is typed.
        _kii_push_words() {
            local word
            for word; do
                [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
            done
        }

        # Offers what the tool itself says there is of this kind.
        _kii_push_ask() {
            local answers
            mapfile -t answers < <("${COMP_WORDS[0]}" complete "$1" -- "${typed[@]}" 2> /dev/null)
            _kii_push_words "${answers[@]}"
        }

        # Offers files (-f), directories (-d) or programs (-c).
        _kii_push_files() {
            compopt -o filenames 2> /dev/null
            mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
        }

        _kii_push() {
            local cur=${COMP_WORDS[COMP_CWORD]} command=kii-push given=0 expecting='' ended='' valued='' word
            local typed=() rest=()
            COMPREPLY=()
            # '--option=value' comes as three words.
            [[ $cur == = ]] && cur=''
            for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                [[ $word == = ]] || typed+=("$word")
            done

            # A command's name comes before its options.
            rest=("${typed[@]}")
            while ((${#rest[@]})); do
                case "$command ${rest[0]}" in
        \(self.commandCases)
                    *) break ;;
                esac
                rest=("${rest[@]:1}")
            done

            # The options that take a value.
            case $command in
        \(self.valuedCases)
            esac
            for word in "${rest[@]}"; do
                if [[ $expecting ]]; then
                    expecting=''
                elif [[ ! $ended && $word == -- ]]; then
                    ended=yes
                elif [[ ! $ended && $word == -?* ]]; then
                    [[ " $valued " == *" $word "* ]] && expecting=$word
                else
                    ((given += 1))
                fi
            done

            if [[ $expecting ]]; then
                case "$command $expecting" in
        \(self.cases(self.optionArms))
                esac
                return 0
            fi
            if [[ ! $ended && $cur == -* ]]; then
                case $command in
        \(self.optionCases)
                esac
                return 0
            fi
            case "$command $given" in
        \(self.cases(self.positionalArms))
            esac
            return 0
        }

        complete -F _kii_push kii-push

        """
    }

    private var commandCases: String {
        self.commands.flatMap { command in
            command.subcommands.map { next in
                let patterns = next.names.map { "'\(command.path) \($0)'" }.joined(separator: " | ")
                return "            \(patterns)) command='\(next.path)' ;;"
            }
        }.joined(separator: "\n")
    }

    private var valuedCases: String {
        self.commands.compactMap { command in
            let names = command.options.filter(\.needsValue).flatMap(\.names)
            return names.isEmpty ? nil : "        '\(command.path)') valued='\(names.joined(separator: " "))' ;;"
        }.joined(separator: "\n")
    }

    private var optionCases: String {
        self.commands.map { command in
            "            '\(command.path)') _kii_push_words \(command.options.flatMap(\.names).joined(separator: " ")) ;;"
        }.joined(separator: "\n")
    }

    /// What to do for the values of options, with the patterns of those that it is done for.
    private var optionArms: [(pattern: String, action: String)] {
        self.commands.flatMap { command in
            command.options.flatMap { option in
                option.names.compactMap { name in
                    Self.action(option.completion).map { ("'\(command.path) \(name)'", $0) }
                }
            }
        }
    }

    private var positionalArms: [(pattern: String, action: String)] {
        self.commands.flatMap { command -> [(String, String)] in
            guard !command.isGroup else {
                let names = command.subcommands.map(\.name).joined(separator: " ")
                return [("'\(command.path) 0'", "_kii_push_words \(names)")]
            }
            return command.positionals.enumerated().compactMap { index, positional in
                let pattern = positional.isRepeating ? "'\(command.path) '*" : "'\(command.path) \(index)'"
                return Self.action(positional.completion).map { (pattern, $0) }
            }
        }
    }

    /// The arms of a `case`, one for each action.
    private func cases(_ arms: [(pattern: String, action: String)]) -> String {
        var actions: [String] = []
        var patterns: [String: [String]] = [:]
        for arm in arms {
            if patterns[arm.action] == nil { actions.append(arm.action) }
            patterns[arm.action, default: []].append(arm.pattern)
        }
        return actions.map { action in
            let lines = (patterns[action] ?? []).joined(separator: " | \\\n                ")
            return "            \(lines))\n                \(action)\n                ;;"
        }.joined(separator: "\n")
    }

    private static func action(_ completion: CompletionKind) -> String? {
        switch completion {
        case .none: nil
        case .words(let words): "_kii_push_words \(words.joined(separator: " "))"
        case .file: "_kii_push_files -f"
        case .directory: "_kii_push_files -d"
        case .program: "_kii_push_files -c"
        case .asked(let question): "_kii_push_ask \(question.rawValue)"
        }
    }
}
