import Glibc

/// A file that others read while it is replaced.
enum MetricsFile {
    /// Replaces the file whole or not at all; anybody may read it.
    ///
    /// The new content is first in a file beside it, whose name does not end as the collector wants it.
    ///
    /// - Throws: ``CommandFailure`` with exit 73 when the file cannot be made, 74 when writing fails.
    static func write(_ text: String, to path: String) throws {
        let temporary = path + ".tmp"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotCreate, "cannot create \(temporary): \(errorText(errno))")
        }
        defer { close(descriptor) }
        // Whatever the umask is, as in a hardened unit.
        guard fchmod(descriptor, 0o644) == 0 else {
            throw CommandFailure(.cannotCreate, "cannot open \(temporary) to readers: \(errorText(errno))")
        }
        do {
            try StandardStream(descriptor: descriptor).write(text)
        } catch {
            unlink(temporary)
            throw CommandFailure(
                .inputOutput, "cannot write \(temporary): \(CommandFailure(describing: error).message)")
        }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw CommandFailure(.cannotCreate, "cannot replace \(path): \(errorText(code))")
        }
    }
}
