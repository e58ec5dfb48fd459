/// Values that several commands share, in help below a heading of their own.
@propertyWrapper
struct OptionGroup<Group: ParsableArguments>: DeclaredGroup {
    private let title: String?
    let wrappedValue = Group()

    /// - Parameter title: the heading; without one they stand among the command's own.
    init(title: String? = nil) {
        self.title = title
    }

    func boundArguments() -> [BoundArgument] { self.wrappedValue.boundArguments(section: self.title) }
    func validateGroup() throws { try self.wrappedValue.validateAll() }
}

protocol DeclaredGroup {
    func boundArguments() -> [BoundArgument]
    func validateGroup() throws
}

extension ParsableArguments {
    func validateAll() throws {
        for child in Mirror(reflecting: self).children {
            try (child.value as? any DeclaredGroup)?.validateGroup()
        }
        try self.validate()
    }
}
