/// `--color`.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    case auto
    case always
    case never
}

/// Colour and weight of a piece of text. The words never depend on it.
enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case magenta = "35"
}

/// Whether a stream gets colours.
struct TerminalStyle: Sendable {
    let isColored: Bool

    static let plain = TerminalStyle(choice: .never, stream: .output, environment: ProcessEnvironment())

    /// `--color`, then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`, `TERM`, then whether `stream` is a terminal.
    init(choice: ColorChoice, stream: StandardStream, environment: ProcessEnvironment) {
        switch choice {
        case .always: self.isColored = true
        case .never: self.isColored = false
        case .auto:
            let isForced = environment.text(.forceColor).map { $0 != "0" } ?? false
            let isUsual = environment[.color] != "0" && environment[.terminal] != "dumb" && stream.isTerminal
            self.isColored = environment.text(.noColor) == nil && (isForced || isUsual)
        }
    }

    func callAsFunction(_ text: String, _ styles: TextStyle...) -> String {
        guard self.isColored, !styles.isEmpty else { return text }
        return "\u{1b}[\(styles.map(\.rawValue).joined(separator: ";"))m\(text)\u{1b}[0m"
    }
}
