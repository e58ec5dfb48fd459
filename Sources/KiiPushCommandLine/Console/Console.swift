package import KiiPushCore

/// The output of a command: data on standard output, everything else on standard error.
package struct Console: Sendable {
    package let json: Bool
    package let quiet: Bool
    package let verbose: Bool
    package let style: TerminalStyle
    let statusStyle: TerminalStyle
    package let note: WaitingNote?

    package init(json: Bool = false, quiet: Bool = false, verbose: Bool = false, color: ColorChoice = .auto) {
        self.json = json
        self.quiet = quiet
        self.verbose = verbose
        self.style = TerminalStyle(choice: color, stream: .output)
        self.statusStyle = TerminalStyle(choice: color, stream: .error)
        self.note = json || quiet ? nil : WaitingNote()
    }

    /// Writes a line of data for people. Writes nothing with `--json`.
    package func line(_ text: String) throws {
        guard !self.json else { return }
        self.note?.erase()
        try StandardStream.output.write(text + "\n")
    }

    /// Writes a line of data for people. Writes nothing with `--quiet` or `--json`.
    package func result(_ text: String) throws { if !self.quiet { try self.line(text) } }

    /// Writes a line of JSON, even with `--quiet`. Writes nothing without `--json`.
    package func object(_ type: String, _ members: [(String, JSONValue)]) throws {
        try self.object(type) { $0.add(members) }
    }

    package func object(_ type: String, _ members: JSONLiteral) throws {
        try self.object(type, JSONMembers(members))
    }

    package func object(_ type: String, _ write: (inout JSONObjectWriter) -> Void) throws {
        guard self.json else { return }
        var bytes = EventLine.bytes(type, write)
        // The usual case: printable ASCII cannot control a terminal.
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
            let text = String(decoding: bytes, as: UTF8.self).escapingTerminalControls
            return try StandardStream.output.write(text + "\n")
        }
        bytes.append(UInt8(ascii: "\n"))
        try StandardStream.output.write(bytes)
    }

    /// Writes progress to standard error, unless `--quiet`.
    package func status(_ text: String) { if !self.quiet { self.error(text) } }

    /// Writes the state of a connection to standard error, unless `--quiet` or `--json`.
    package func state(_ text: String) { if !self.json { self.status(text) } }

    /// Writes trouble to standard error, even with `--quiet`, unless `--json`.
    package func trouble(_ text: String) { if !self.json { self.error(text) } }

    /// Writes to standard error with `--verbose` alone.
    package func detail(_ text: String) { if self.verbose { self.error(self.statusStyle(text, .dim)) } }

    /// Writes to standard error, even with `--quiet` or `--json`.
    package func warning(_ text: String) { self.error("\(self.statusStyle("warning:", .yellow)) \(text)") }

    private func error(_ text: String) {
        self.note?.erase()
        StandardStream.error.say(text.withoutCredentials + "\n")
    }
}
