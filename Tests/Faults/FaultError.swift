/// The reason why a scenario could not be played. Losses and other results are in ``Outcome``.
package struct FaultError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
