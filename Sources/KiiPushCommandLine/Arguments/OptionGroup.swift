/// Options and arguments that several commands can share.
@propertyWrapper
package struct OptionGroup<Group: ParsableArguments>: DeclaredGroup {
    private let title: String?
    package let wrappedValue = Group()

    /// - Parameter title: the heading in help. Without a title, help lists the group among the command's own options.
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
