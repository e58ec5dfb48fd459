/// A switch without a value, `--json`. Off unless it is given.
@propertyWrapper
struct Flag: DeclaredArgument {
    private let name: NameSpecification
    private let help: String
    private let box: ValueBox<Bool>

    init(wrappedValue: Bool, name: NameSpecification = .long, help: String) {
        self.name = name
        self.help = help
        self.box = ValueBox(wrappedValue)
    }

    var wrappedValue: Bool { self.box.value ?? false }
    var isGiven: Bool { self.box.isGiven }

    func definition(property: String) -> ArgumentDefinition {
        let names = self.name.names(property: property)
        return ArgumentDefinition(kind: .flag, short: names.short, long: names.long, help: self.help)
    }

    func take(_ text: String?) -> String? {
        self.box.value = true
        self.box.isGiven = true
        return nil
    }
}
