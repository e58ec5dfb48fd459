import Foundation

/// All that can happen to an inbox's files, one thing after the other.
package enum Matrix {
    /// Plays these damages.
    ///
    /// - Parameters:
    ///   - directory: for the files. The reserve that an inbox makes in it serves all trials.
    ///   - body: is told what became of each.
    package static func play(
        _ damages: [Damage], of past: Past, in directory: String, _ body: (Finding) -> Void
    ) async throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for damage in damages {
            do {
                body(try await Trial(past: past, damage: damage, directory: directory).play())
            } catch {
                body(Finding(damage, failure: error))
            }
        }
    }
}
