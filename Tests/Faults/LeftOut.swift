/// The reason why a scenario cannot be tried here. Such a scenario has no ``Outcome``.
package struct LeftOut: Error, CustomStringConvertible {
    package let description: String

    static let onlyRootMounts = LeftOut("only root can mount the disk")

    package init(_ description: String) { self.description = description }
}
