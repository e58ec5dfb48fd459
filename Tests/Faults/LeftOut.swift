/// Why a scenario cannot be played here at all. That is no outcome: nothing was tried.
package struct LeftOut: Error, CustomStringConvertible {
    package let description: String

    static let onlyRootMounts = LeftOut("only root can mount the disk")

    package init(_ description: String) { self.description = description }
}
