/// The completion script for zsh: one function a command, each a call of `_arguments`.
///
/// - Source: zshcompsys(1), `_arguments` and `_describe`.
struct ZshCompletion {
    let tool: CommandDescription

    var script: String {
        """
        #compdef kii-push
        # zsh completion for kii-push; made by 'kii-push completion zsh'

        # Offers what the tool itself says there is of this kind, which _arguments puts behind words of its own.
        _kii-push_ask() {
            local -a answers
            answers=(${(f)"$("${(Q)_kii_push_typed[1]}" complete ${@[-1]} -- "${(@Q)_kii_push_typed[2,-1]}" 2> /dev/null)"})
            compadd "${@[1,-2]}" -a answers
        }

        \(self.tool.withAllBelow.map(self.function).joined(separator: "\n\n"))

        _kii-push() {
            # _arguments takes words away; the tool is to see what was typed before the cursor.
            local -a _kii_push_typed
            _kii_push_typed=("${(@)words[1,CURRENT-1]}")
            _kii-push_main "$@"
        }

        # As a file in $fpath this is the function itself; else it was sourced.
        if [[ $funcstack[1] == _kii-push ]]; then
            _kii-push "$@"
        else
            compdef _kii-push kii-push
        fi

        """
    }

    private func function(_ command: CommandDescription) -> String {
        let options = command.options.flatMap(self.specifications)
        guard command.isGroup else {
            let specifications = options + command.positionals.map(self.specification)
            return """
                \(Self.name(command))() {
                    _arguments -s -S \\
                \(specifications.map { "        \($0)" }.joined(separator: " \\\n"))
                }
                """
        }
        let rows = command.subcommands.map {
            let text = "\($0.name):\($0.configuration.abstract.replacing(":", with: "\\:"))"
            return "                \(Self.quoted(text))"
        }
        let calls = command.subcommands.map { next in
            "                \(next.names.joined(separator: " | "))) \(Self.name(next)) ;;"
        }
        return """
            \(Self.name(command))() {
                local state line
                local -a commands
                _arguments -C \\
            \(options.map { "        \($0) \\" }.joined(separator: "\n"))
                    '1: :->command' \\
                    '*:: :->words' && return
                case $state in
                    command)
                        commands=(
            \(rows.joined(separator: "\n"))
                        )
                        _describe -t commands command commands
                        ;;
                    words)
                        case $line[1] in
            \(calls.joined(separator: "\n"))
                        esac
                        ;;
                esac
            }
            """
    }

    /// One for each name, of which one excludes the other.
    private func specifications(_ option: ArgumentDefinition) -> [String] {
        let help = "[\(Self.escaped(option.helpWithDefault, "[]"))]"
        let exclusion = option.isRepeating ? "*" : "(\(option.names.joined(separator: " ")))"
        return option.names.map { name in
            guard let valueName = option.valueName else { return Self.quoted("\(exclusion)\(name)\(help)") }
            let joint = name.hasPrefix("--") ? "=" : "+"
            // A second colon: it may go without the value.
            let value = "\(option.needsValue ? ":" : "::")\(valueName):\(Self.action(option.completion))"
            return Self.quoted("\(exclusion)\(name)\(joint)\(help)\(value)")
        }
    }

    private func specification(_ positional: ArgumentDefinition) -> String {
        let start = positional.isRepeating ? "*:" : positional.isRequired ? ":" : "::"
        let label = Self.escaped(positional.valueName ?? "", "")
        return Self.quoted("\(start)\(label):\(Self.action(positional.completion))")
    }

    private static func action(_ completion: CompletionKind) -> String {
        switch completion {
        case .none: " "
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .file: "_files"
        case .directory: "_files -/"
        case .program: "{_command_names -e || _files}"
        case .asked(let question): "_kii-push_ask \(question.rawValue)"
        }
    }

    private static func name(_ command: CommandDescription) -> String {
        "_kii-push_" + (["main"] + command.words.dropFirst()).joined(separator: "_")
    }

    /// With a backslash before what ends a part of a specification.
    private static func escaped(_ text: String, _ special: String) -> String {
        String(text.flatMap { ("\\:" + special).contains($0) ? ["\\", $0] : [$0] })
    }

    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
