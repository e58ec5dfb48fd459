/// Values that several commands share. Help lists them below their own heading.
@propertyWrapper
package struct OptionGroup<Group: ParsableArguments>: DeclaredGroup {
    private let title: String?
    package let wrappedValue = Group()

    /// - Parameter title: the heading. Without a title, help lists the values among the command's own.
    package init(title: String? = nil) {
        self.title = title
    }

    package func boundArguments() -> [BoundArgument] { self.wrappedValue.boundArguments(section: self.title) }
    package func validateGroup() throws { try self.wrappedValue.validateAll() }
}

package protocol DeclaredGroup {
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
