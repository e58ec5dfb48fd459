import Foundation

package enum Matrix {
    /// Plays these damages.
    ///
    /// - Parameters:
    ///   - directory: a directory for the files. All trials share the reserve file that an inbox creates in it.
    ///   - body: called with the finding of each damage.
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
