/// A named value, `--count N`. Given twice, the last one holds, unless the property is an array.
@propertyWrapper
struct Option<Value>: DeclaredArgument {
    private let name: NameSpecification
    private let valueName: String
    private let help: String
    private let completion: CompletionKind?
    private let reading: ValueReading<Value>
    private let box: ValueBox<Value>
    private let bareText: String?

    private init(
        _ initial: Value?,
        _ reading: ValueReading<Value>,
        _ name: NameSpecification,
        _ valueName: String,
        _ help: String,
        _ completion: CompletionKind?,
        bareText: String? = nil
    ) {
        self.name = name
        self.valueName = valueName
        self.help = help
        self.completion = completion
        self.reading = reading
        self.box = ValueBox(initial)
        self.bareText = bareText
    }

    var wrappedValue: Value {
        // A required value that was not given is reported by the parser, before any command can read it.
        guard let value = self.box.value else { preconditionFailure("read before it was parsed") }
        return value
    }

    var isGiven: Bool { self.box.isGiven }

    func definition(property: String) -> ArgumentDefinition {
        let names = self.name.names(property: property)
        return ArgumentDefinition(
            kind: .option(valueName: self.valueName),
            short: names.short,
            long: names.long,
            help: self.help,
            isRequired: self.reading.isRequired,
            isRepeating: self.reading.isRepeating,
            defaultText: self.reading.defaultText,
            completion: self.completion ?? self.reading.completion,
            bareText: self.bareText
        )
    }

    func take(_ text: String?) -> String? {
        guard let text, self.reading.take(self.box, text) else { return self.reading.expectation }
        self.box.isGiven = true
        return nil
    }
}

extension Option where Value: ExpressibleByArgument {
    /// With a default.
    init(
        wrappedValue: Value,
        name: NameSpecification = .long,
        value: String,
        help: String,
        completion: CompletionKind? = nil
    ) {
        self.init(wrappedValue, .single(default: wrappedValue), name, value, help, completion)
    }
}

extension Option {
    /// `nil` when it is not given.
    init<Wrapped: ExpressibleByArgument>(
        name: NameSpecification = .long,
        value: String,
        help: String,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(.some(nil), .optional(), name, value, help, completion)
    }

    /// `nil` when it is not given; `bare` stands for the value when the option is given without one.
    init<Wrapped: ExpressibleByArgument>(
        bare: String, name: NameSpecification = .long, value: String, help: String
    ) where Value == Wrapped? {
        self.init(.some(nil), .optional(), name, value, help, nil, bareText: bare)
    }

    /// Any number of times.
    init<Element: ExpressibleByArgument>(
        wrappedValue: [Element],
        name: NameSpecification = .long,
        value: String,
        help: String,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(wrappedValue, .array(), name, value, help, completion)
    }
}
