import KiiPushCore

extension CommandDescription {
    /// The members that describe it to programs, with those of all commands below it.
    var json: [(String, JSONValue)] {
        let configuration = self.configuration
        var members: [(String, JSONValue)] = [("name", JSONValue(self.name)), ("path", JSONValue(self.path))]
        if let version = configuration.version { members.append(("version", JSONValue(version))) }
        members.append(("abstract", JSONValue(configuration.abstract)))
        members.append(("usage", JSONValue(self.usage)))
        members.append(("aliases", JSONValue(texts: configuration.aliases)))
        members.append(("examples", JSONValue(configuration.examples.map(\.json))))
        members.append(("discussion", JSONValue(texts: configuration.discussion)))
        members.append(("arguments", JSONValue(self.positionals.map(\.json))))
        members.append(("options", JSONValue(self.options.map(\.json))))
        members.append(("exit_codes", JSONValue(self.exitCodes.map(\.json))))
        members.append(("environment", JSONValue(configuration.environment.map(\.json))))
        members.append(("commands", JSONValue(self.subcommands.map { JSONValue.object($0.json) })))
        return members
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
        if !self.completion.words.isEmpty { members.append(("values", JSONValue(texts: self.completion.words))) }
        members.append(("required", JSONValue(self.isRequired)))
        members.append(("repeatable", JSONValue(self.isRepeating)))
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
