package enum ColorChoice: String, CaseIterable, ExpressibleByArgument { case auto, always, never }

package enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case magenta = "35"
}

package struct TerminalStyle: Sendable {
    let isColored: Bool

    /// Whether to use colours is decided, in this order, by `--color`, `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`,
    /// `TERM`, and whether `stream` is a terminal.
    package init(choice: ColorChoice, stream: StandardStream) {
        switch choice {
        case .always: self.isColored = true
        case .never: self.isColored = false
        case .auto:
            let isForced = EnvironmentVariable.forceColor.text.map { $0 != "0" } ?? false
            let isDumb = EnvironmentVariable.terminal.value == "dumb"
            let isUsual = EnvironmentVariable.color.value != "0" && !isDumb && stream.isTerminal
            self.isColored = EnvironmentVariable.noColor.text == nil && (isForced || isUsual)
        }
    }

    package func callAsFunction(_ text: String, _ style: TextStyle) -> String {
        guard self.isColored else { return text }
        return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
    }
}
