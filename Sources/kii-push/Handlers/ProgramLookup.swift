import Glibc

/// Looks for a program before anything is received: a message whose program cannot be started has failed an attempt, and
/// has only so many.
enum ProgramLookup {
    /// - Throws: ``CommandFailure`` with exit 66 when there is no such program.
    static func require(_ program: String) throws {
        let path = EnvironmentVariable.path.value ?? "/bin:/usr/bin"
        // As posix_spawnp(3) does: an empty part is the working directory.
        let directories = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
        let places = program.contains("/") ? [program] : directories.map { "\($0)/\(program)" }
        let isThere = places.contains { place in
            var status = stat()
            return stat(place, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(place, X_OK) == 0
        }
        guard !isThere else { return }
        throw CommandFailure(
            .missingInput, "there is no program '\(program)' that could be started",
            hint: "name it with its whole path, make it executable, or install it")
    }
}
