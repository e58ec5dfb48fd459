import KiiPushCore

/// A named value, such as `--count N`. The last of several occurrences counts, unless the property is an array.
@propertyWrapper
package struct Option<Value: ArgumentValue>: DeclaredArgument {
    private let name: NameSpecification
    private let unnamed: ArgumentDefinition
    private let value: ValueBox<Value>

    /// - Parameter bare: the value if the option is written without a value.
    package init(
        name: NameSpecification = .long, bare: String? = nil, value: String, help: String,
        completion: CompletionKind? = nil
    ) {
        self.init(Value.absent, name, bare, value, help, completion)
    }

    package init(
        wrappedValue: Value, name: NameSpecification = .long, value: String, help: String,
        completion: CompletionKind? = nil
    ) {
        self.init(wrappedValue, name, nil, value, help, completion)
    }

    private init(
        _ initial: Value?, _ name: NameSpecification, _ bare: String?, _ valueName: String, _ help: String,
        _ completion: CompletionKind?
    ) {
        self.name = name
        var definition = ArgumentDefinition(.option(valueName: valueName), initial, help, completion)
        definition.bareText = bare
        self.unnamed = definition
        self.value = ValueBox(initial)
    }

    package var wrappedValue: Value { self.value.value }

    package func bound(property: String) -> BoundArgument {
        var definition = self.unnamed
        (definition.short, definition.long) = self.name.names(property: property)
        return BoundArgument(definition: definition, box: self.value)
    }
}

@propertyWrapper
package struct Argument<Value: ArgumentValue>: DeclaredArgument {
    private let definition: ArgumentDefinition
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
    package func bound(property: String) -> BoundArgument {
        BoundArgument(definition: self.definition, box: self.value)
    }
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

    private let name: NameSpecification
    private let help: String
    private let box = Switch()

    package init(wrappedValue: Bool, name: NameSpecification = .long, help: String) {
        (self.name, self.help) = (name, help)
    }

    package var wrappedValue: Bool { self.box.isGiven }

    package func bound(property: String) -> BoundArgument {
        let (short, long) = self.name.names(property: property)
        let definition = ArgumentDefinition(kind: .flag, short: short, long: long, help: self.help)
        return BoundArgument(definition: definition, box: self.box)
    }
}
