import KiiPushCore

/// A named value, such as `--count N`. The last of several occurrences counts, unless the property is an array.
@propertyWrapper
package struct Option<Value: ArgumentValue>: DeclaredArgument {
    package let definition: ArgumentDefinition
    private let value: ValueBox<Value>

    /// - Parameter bare: the value if the option is written without a value.
    package init(
        short: Character? = nil, long: String? = nil, bare: String? = nil, value: String, help: String,
        completion: CompletionKind? = nil
    ) {
        self.init(Value.absent, short, long, bare, value, help, completion)
    }

    package init(
        wrappedValue: Value, short: Character? = nil, long: String? = nil, value: String, help: String,
        completion: CompletionKind? = nil
    ) {
        self.init(wrappedValue, short, long, nil, value, help, completion)
    }

    private init(
        _ initial: Value?, _ short: Character?, _ long: String?, _ bare: String?, _ valueName: String, _ help: String,
        _ completion: CompletionKind?
    ) {
        var definition = ArgumentDefinition(.option(valueName: valueName), initial, help, completion)
        definition.short = short
        definition.long = long
        definition.bareText = bare
        self.definition = definition
        self.value = ValueBox(initial)
    }

    package var wrappedValue: Value { self.value.value }
    package var box: any ArgumentBox { self.value }
}

@propertyWrapper
package struct Argument<Value: ArgumentValue>: DeclaredArgument {
    package let definition: ArgumentDefinition
    private let value: ValueBox<Value>

    package init(value: String, help: String, completion: CompletionKind? = nil) {
        self.init(Value.absent, value, help, completion)
    }

    package init(wrappedValue: Value, value: String, help: String, completion: CompletionKind? = nil) {
        self.init(wrappedValue, value, help, completion)
    }

    private init(_ initial: Value?, _ valueName: String, _ help: String, _ completion: CompletionKind?) {
        self.definition = ArgumentDefinition(.positional(valueName: valueName), initial, help, completion)
        self.value = ValueBox(initial)
    }

    package var wrappedValue: Value { self.value.value }
    package var box: any ArgumentBox { self.value }
}

@propertyWrapper
package struct Flag: DeclaredArgument {
    private final class Switch: ArgumentBox {
        private(set) var words: [String] = []

        func take(_ text: String?) -> String? {
            self.words = [""]
            return nil
        }

        func take(_ member: ConfigurationDocument) throws(CommandFailure) {
            if try member.flag() { self.words = [""] }
        }
    }

    package let definition: ArgumentDefinition
    package let box: any ArgumentBox = Switch()

    package init(wrappedValue: Bool, short: Character? = nil, long: String? = nil, help: String) {
        self.definition = ArgumentDefinition(kind: .flag, short: short, long: long, help: help)
    }

    package var wrappedValue: Bool { self.box.isGiven }
}
