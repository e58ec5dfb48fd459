import Glibc

/// Finds a program before any message is received: otherwise a missing program would use up the attempts of messages.
package enum ProgramLookup {
    /// This program's own file; `nil`, with `errno` set, if the system does not know it.
    package static var own: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// - Throws: ``CommandFailure`` with exit 66 when there is no such program.
    package static func require(_ program: String) throws {
        guard self.path(of: program) == nil else { return }
        throw CommandFailure(
            .missingInput, "there is no program '\(program)' that could be started",
            hint: "name it with its whole path, make it executable, or install it")
    }

    /// The program's file, by its path or along the PATH; `nil` if there is none.
    package static func path(of program: String) -> String? {
        let path = EnvironmentVariable.path.value ?? "/bin:/usr/bin"
        // Like posix_spawnp(3): an empty part is the working directory.
        let directories = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
        let places = program.contains("/") ? [program] : directories.map { "\($0)/\(program)" }
        return places.first { place in
            var status = stat()
            return stat(place, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(place, X_OK) == 0
        }
    }
}
