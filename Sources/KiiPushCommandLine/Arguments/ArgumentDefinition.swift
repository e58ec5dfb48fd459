package struct ArgumentDefinition {
    package enum Kind: Equatable {
        case option(valueName: String)
        case flag
        case positional(valueName: String)
    }

    package var kind: Kind
    package var short: Character?
    /// `nil`: the property gives the name of an option or flag, such as `--complete-as` for `completeAs`.
    package var long: String?
    package var help: String
    var isRequired = false
    package var isRepeating = false
    /// The default as written on a command line. `nil`: help shows no default.
    var defaultText: String?
    package var completion = CompletionKind.none
    /// The value if a command line has the option without a value; `nil` if the option requires a value.
    var bareText: String?
    var section: String?

    var isPositional: Bool { if case .positional = self.kind { true } else { false } }

    var valueName: String? {
        switch self.kind {
        case .flag: nil
        case .option(let valueName), .positional(let valueName): valueName
        }
    }

    var needsValue: Bool { self.valueName != nil && self.bareText == nil }
    package var names: [String] { [self.short.map { "-\($0)" }, self.long.map { "--\($0)" }].compactMap { $0 } }

    /// The name in help and errors: `-n, --count N`.
    var label: String {
        let names = self.names.joined(separator: ", ")
        switch self.kind {
        case .flag: return names
        case .option(let valueName): return "\(names) \(self.bareText == nil ? valueName : "[\(valueName)]")"
        case .positional(let valueName): return self.isRepeating ? "\(valueName)..." : valueName
        }
    }

    var helpWithDefault: String {
        guard let defaultText = self.defaultText else { return self.help }
        return "\(self.help) Default: \(defaultText)."
    }

    /// The name in a usage line: `[FILE]`, `TOPIC...`.
    var usageLabel: String { self.isRequired ? self.label : "[\(self.label)]" }
}

extension ArgumentDefinition {
    package init<Value: ArgumentValue>(_ kind: Kind, _ initial: Value?, _ help: String, _ completion: CompletionKind?) {
        self.init(
            kind: kind, help: help, isRequired: initial == nil, isRepeating: Value.isRepeating,
            defaultText: initial?.argumentText, completion: completion ?? Value.Word.completion)
    }
}

extension String {
    var kebabCase: String {
        self.reduce(into: "") { name, character in
            if character.isUppercase, !name.isEmpty { name.append("-") }
            name.append(character.lowercased())
        }
    }
}

package struct BoundArgument {
    let property: String
    let definition: ArgumentDefinition
    let box: any ArgumentBox
}

extension ParsableArguments {
    /// The options, flags and arguments in the order of their declaration. A group's members have the group's position.
    package func boundArguments(section: String? = nil) -> [BoundArgument] {
        Mirror(reflecting: self).children.flatMap { child -> [BoundArgument] in
            if let group = child.value as? any DeclaredGroup { return group.boundArguments() }
            guard let label = child.label, let declared = child.value as? any DeclaredArgument else { return [] }
            // The compiler stores a wrapped property `count` as `_count`.
            let property = String(label.drop { $0 == "_" })
            var definition = declared.definition
            definition.section = section
            if !definition.isPositional { definition.long = definition.long ?? property.kebabCase }
            return [BoundArgument(property: property, definition: definition, box: declared.box)]
        }
    }

    package var given: [String] { self.boundArguments().filter { $0.box.isGiven }.compactMap(\.definition.long) }

    package func exclude(_ options: String...) throws {
        let given = self.given
        let both = options.filter(given.contains)
        if both.count > 1 { throw CommandFailure(.usage, "'--\(both[0])' and '--\(both[1])' exclude each other") }
    }
}
