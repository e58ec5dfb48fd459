/// A value known by its place, `TOPIC`.
@propertyWrapper
struct Argument<Value>: DeclaredArgument {
    private let valueName: String
    private let help: String
    private let completion: CompletionKind?
    private let reading: ValueReading<Value>
    private let box: ValueBox<Value>

    private init(
        _ initial: Value?,
        _ reading: ValueReading<Value>,
        _ valueName: String,
        _ help: String,
        _ completion: CompletionKind?
    ) {
        self.valueName = valueName
        self.help = help
        self.completion = completion
        self.reading = reading
        self.box = ValueBox(initial)
    }

    var wrappedValue: Value {
        // A required value that was not given is reported by the parser, before any command can read it.
        guard let value = self.box.value else { preconditionFailure("read before it was parsed") }
        return value
    }

    var isGiven: Bool { self.box.isGiven }

    func definition(property: String) -> ArgumentDefinition {
        ArgumentDefinition(
            kind: .positional(valueName: self.valueName),
            help: self.help,
            isRequired: self.reading.isRequired,
            isRepeating: self.reading.isRepeating,
            defaultText: self.reading.defaultText,
            completion: self.completion ?? self.reading.completion
        )
    }

    func take(_ text: String?) -> String? {
        guard let text, self.reading.take(self.box, text) else { return self.reading.expectation }
        self.box.isGiven = true
        return nil
    }
}

extension Argument where Value: ExpressibleByArgument {
    /// Must be given.
    init(value: String, help: String, completion: CompletionKind? = nil) {
        self.init(nil, .single(default: nil), value, help, completion)
    }

    /// With a default.
    init(wrappedValue: Value, value: String, help: String, completion: CompletionKind? = nil) {
        self.init(wrappedValue, .single(default: wrappedValue), value, help, completion)
    }
}

extension Argument {
    /// `nil` when it is not given.
    init<Wrapped: ExpressibleByArgument>(value: String, help: String, completion: CompletionKind? = nil)
    where Value == Wrapped? {
        self.init(.some(nil), .optional(), value, help, completion)
    }

    /// All that are left.
    init<Element: ExpressibleByArgument>(
        wrappedValue: [Element],
        value: String,
        help: String,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(wrappedValue, .array(), value, help, completion)
    }
}
