/// One declared value as parsing and help need it.
struct ArgumentDefinition {
    enum Kind: Equatable {
        /// Takes a value, such as `--count N`.
        case option(valueName: String)
        /// Takes none.
        case flag
        /// Has no name: known by its place.
        case positional(valueName: String)
    }

    var kind: Kind
    var short: Character?
    var long: String?
    var help: String
    var isRequired = false
    var isRepeating = false
    /// What holds when it is not given, as it would be typed; `nil` says nothing.
    var defaultText: String?
    /// What the shell may offer for its value.
    var completion = CompletionKind.none
    /// What stands for the value of an option that is given without one; `nil` where it needs one.
    var bareText: String?
    /// The heading under which help shows it.
    var section: String?

    /// Whether it is known by its place.
    var isPositional: Bool { self.short == nil && self.long == nil }

    /// The name of its value; `nil` for a flag.
    var valueName: String? {
        switch self.kind {
        case .flag: nil
        case .option(let valueName), .positional(let valueName): valueName
        }
    }

    /// Whether the word behind it is its value, whatever that looks like.
    var needsValue: Bool { self.valueName != nil && self.bareText == nil }

    /// The names as they are typed: `-n`, `--count`.
    var names: [String] { [self.short.map { "-\($0)" }, self.long.map { "--\($0)" }].compactMap { $0 } }

    /// As it is written in help and errors: `-n, --count N`.
    var label: String {
        let names = self.names.joined(separator: ", ")
        switch self.kind {
        case .flag: return names
        case .option(let valueName): return "\(names) \(self.bareText == nil ? valueName : "[\(valueName)]")"
        case .positional(let valueName): return self.isRepeating ? "\(valueName)..." : valueName
        }
    }

    /// The help with the default, where there is one.
    var helpWithDefault: String {
        guard let defaultText = self.defaultText else { return self.help }
        return "\(self.help) Default: \(defaultText)."
    }

    /// As it stands in a usage line: `[FILE]`, `TOPIC...`.
    var usageLabel: String { self.isRequired ? self.label : "[\(self.label)]" }
}

extension ArgumentDefinition {
    /// Defines a value whose default is `initial`. Without a default the value is required.
    init<Value: ArgumentValue>(_ kind: Kind, _ initial: Value?, _ help: String, _ completion: CompletionKind?) {
        self.init(
            kind: kind, help: help, isRequired: initial == nil, isRepeating: Value.isRepeating,
            defaultText: initial?.argumentText, completion: completion ?? Value.Word.completion)
    }
}

/// How an option or flag is called; the long name comes from the property, `completeAs` giving `--complete-as`.
enum NameSpecification {
    case long
    case shortAndLong
    case customLong(String)
    case shortAndCustomLong(Character, String)
    case customShort(Character)

    func names(property: String) -> (short: Character?, long: String?) {
        switch self {
        case .long: (nil, property.kebabCase)
        case .shortAndLong: (property.first, property.kebabCase)
        case .customLong(let long): (nil, long)
        case .shortAndCustomLong(let short, let long): (short, long)
        case .customShort(let short): (short, property.kebabCase)
        }
    }
}

extension String {
    /// A property's name as an option is written: `complete-as` for `completeAs`.
    var kebabCase: String {
        self.reduce(into: "") { name, character in
            if character.isUppercase, !name.isEmpty { name.append("-") }
            name.append(character.lowercased())
        }
    }
}

/// A declared value together with its names.
struct BoundArgument {
    let definition: ArgumentDefinition
    let box: any ArgumentBox
}

extension ParsableArguments {
    /// The declared values in the order of the source, with those of the groups in their places.
    func boundArguments(section: String? = nil) -> [BoundArgument] {
        Mirror(reflecting: self).children.flatMap { child -> [BoundArgument] in
            if let group = child.value as? any DeclaredGroup { return group.boundArguments() }
            guard let label = child.label, let declared = child.value as? any DeclaredArgument else { return [] }
            // The compiler stores a wrapped property `count` as `_count`.
            var definition = declared.definition(property: String(label.drop { $0 == "_" }))
            definition.section = definition.section ?? section
            return [BoundArgument(definition: definition, box: declared.box)]
        }
    }
}
