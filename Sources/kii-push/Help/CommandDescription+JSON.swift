import KiiPushCore

extension CommandDescription {
    /// The members that describe it to programs, with those of all commands below it.
    var json: [(String, JSONValue)] {
        let configuration = self.configuration
        let members: JSONLiteral = [
            "name": self.name, "path": self.path, "version": configuration.version, "abstract": configuration.abstract,
            "usage": self.usage, "aliases": configuration.aliases.json,
            "examples": JSONValue(
                configuration.examples.map { ["purpose": JSONValue($0.purpose), "line": JSONValue($0.line)] }),
            "discussion": configuration.discussion.json,
            "arguments": JSONValue(self.positionals.map(\.json)), "options": JSONValue(self.options.map(\.json)),
            "exit_codes": JSONValue(self.exitCodes.map(\.json)),
            "environment": JSONValue(
                configuration.environment.map { ["name": JSONValue($0.name), "meaning": JSONValue($0.meaning)] }),
            "commands": JSONValue(self.subcommands.map { JSONValue.object($0.json) }),
        ]
        return JSONMembers(members)
    }
}

extension ArgumentDefinition {
    fileprivate var json: JSONValue {
        var words: JSONValue?
        if case .words(let values) = self.completion { words = values.json }
        let members: JSONLiteral = [
            "names": self.names.json, "value": self.valueName, "help": self.help,
            "default": self.defaultText, "bare": self.bareText,
            "completes": self.valueName.map { _ in self.completion.name }, "values": words,
            "required": self.isRequired, "repeatable": self.isRepeating, "section": self.section,
        ]
        return .object(present: members)
    }
}

extension ExitStatus {
    fileprivate var json: JSONValue {
        ["code": JSONValue(self.rawValue), "category": JSONValue(self.category), "meaning": JSONValue(self.meaning)]
    }
}
