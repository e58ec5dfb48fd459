import Glibc

/// Finds programs. `run` looks its program up before any message is received: a missing program would use up attempts.
package enum ProgramLookup {
    /// The path of this program; `nil`, with `errno` set, if the system does not know it.
    package static var own: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Throws: ``CommandFailure`` with exit 66 if there is no such program.
    package static func require(_ program: String) throws {
        guard self.path(of: program) == nil else { return }
        throw CommandFailure(
            .missingInput, "there is no program '\(program)' that could be started",
            hint: "name it with its whole path, make it executable, or install it")
    }

    package static func path(of program: String) -> String? {
        let path = EnvironmentVariable.path.value ?? "/bin:/usr/bin"
        // An empty part of the PATH is the working directory, as in posix_spawnp(3).
        let directories = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
        let places = program.contains("/") ? [program] : directories.map { "\($0)/\(program)" }
        return places.first { place in
            var status = stat()
            return stat(place, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(place, X_OK) == 0
        }
    }
}
