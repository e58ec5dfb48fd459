/// Why a scenario could not be carried out. What it found is no error but its outcome.
package struct FaultError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
