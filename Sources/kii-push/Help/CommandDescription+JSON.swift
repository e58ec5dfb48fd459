import KiiPushCore

extension CommandDescription {
    /// The members that describe it to programs, with those of all commands below it.
    var json: [(String, JSONValue)] {
        let configuration = self.configuration
        return [("name", JSONValue(self.name)), ("path", JSONValue(self.path))]
            + (configuration.version.map { [("version", JSONValue($0))] } ?? [])
            + [
                ("abstract", JSONValue(configuration.abstract)), ("usage", JSONValue(self.usage)),
                ("aliases", JSONValue(texts: configuration.aliases)),
                ("examples", JSONValue(configuration.examples.map(\.json))),
                ("discussion", JSONValue(texts: configuration.discussion)),
                ("arguments", JSONValue(self.positionals.map(\.json))),
                ("options", JSONValue(self.options.map(\.json))),
                ("exit_codes", JSONValue(self.exitCodes.map(\.json))),
                ("environment", JSONValue(configuration.environment.map(\.json))),
                ("commands", JSONValue(self.subcommands.map { JSONValue.object($0.json) })),
            ]
    }
}

extension JSONValue {
    init(texts: [String]) { self.init(texts.map { JSONValue($0) }) }
}

extension CommandConfiguration.Example {
    fileprivate var json: JSONValue { ["purpose": JSONValue(self.purpose), "line": JSONValue(self.line)] }
}

extension ArgumentDefinition {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = [("names", JSONValue(texts: self.names))]
        if let valueName = self.valueName { members.append(("value", JSONValue(valueName))) }
        members.append(("help", JSONValue(self.help)))
        if let text = self.defaultText { members.append(("default", JSONValue(text))) }
        if let text = self.bareText { members.append(("bare", JSONValue(text))) }
        if self.valueName != nil { members.append(("completes", JSONValue(self.completion.name))) }
        if case .words(let words) = self.completion { members.append(("values", JSONValue(texts: words))) }
        members += [("required", JSONValue(self.isRequired)), ("repeatable", JSONValue(self.isRepeating))]
        if let section = self.section { members.append(("section", JSONValue(section))) }
        return .object(members)
    }
}

extension ExitStatus {
    fileprivate var json: JSONValue {
        [
            "code": JSONValue(Int(self.rawValue)), "category": JSONValue(self.category),
            "meaning": JSONValue(self.meaning),
        ]
    }
}

extension EnvironmentVariable {
    fileprivate var json: JSONValue { ["name": JSONValue(self.rawValue), "meaning": JSONValue(self.meaning)] }
}
