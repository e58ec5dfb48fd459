import Foundation

/// Where one damage after the other is tried on the same past.
package struct Matrix {
    private let past: Past
    private let directory: String

    /// - Parameter directory: for the files. The reserve that an inbox makes in it serves all trials.
    package init(_ past: Past, in directory: String) throws {
        self.past = past
        self.directory = directory
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Does it to the files, has agents receive with them, and counts.
    package func play(_ damage: Damage) async -> Finding {
        do {
            return try await Trial(past: self.past, damage: damage, directory: self.directory).play()
        } catch {
            return Finding(damage, failure: error)
        }
    }
}
