import Glibc

/// An error while reading or writing a file.
public enum FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A system call failed with `code` (an `errno` value).
    case system(path: String, operation: String, code: Int32)
    /// The path names something other than a regular file, such as a symbolic link or a pipe.
    case notAFile(path: String)
    /// The path names something other than a directory.
    case notADirectory(path: String)
    /// The file holds credentials, but its mode gives the group or others access.
    case tooOpen(path: String, mode: UInt32)
    /// The file or the folder belongs to the user with this ID, not to the user who runs the program.
    case foreignOwner(path: String, owner: UInt32)
    /// The mode lets the group or others write a file or folder whose content the program has to trust.
    case writableByOthers(path: String, mode: UInt32)
    /// The file exceeds the size limit.
    case tooLarge(path: String)
    /// The content has an invalid format; `reason` says more.
    case malformed(path: String, reason: String)
    /// A later version wrote the file, in a format that this version does not know.
    case newerFormat(path: String, version: Int)

    var forbidsWriting: Bool {
        switch self {
        case .system(_, _, let code): [EACCES, EPERM, EROFS, ENOENT, ENOTDIR].contains(code)
        case .notADirectory: true
        default: false
        }
    }

    /// Whether the machine or the process lacks a resource, so that a retry may succeed.
    package var isTemporary: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return [EMFILE, ENFILE, ENOMEM, ENOLCK, ENOSPC, EDQUOT, EIO, EAGAIN, EINTR].contains(code)
    }

    /// The failure on one line, without the file's content; with a remedy unless a system call failed.
    public var description: String {
        switch self {
        case .system(let path, let operation, let code): "cannot \(operation) \(path): \(errorText(code))"
        case .notAFile(let path): "\(path) is a link or not a regular file; put a regular file in its place"
        case .notADirectory(let path): "\(path) is not a directory; move it out of the way"
        case .tooOpen(let path, let mode):
            "\(path) holds credentials and is open to others (mode \(String(mode, radix: 8))); run: chmod 600 \(path)"
        case .foreignOwner(let path, let owner):
            "\(path) belongs to user \(owner); run as that user, or put one of your own in its place"
        case .writableByOthers(let path, let mode):
            "\(path) can be written by others (mode \(String(mode, radix: 8))), and decides where secrets go; "
                + "run: chmod go-w \(path)"
        case .tooLarge(let path): "\(path) is too large to be a state file; move it out of the way"
        case .malformed(let path, let reason): "\(path) cannot be read (\(reason)); move it out of the way"
        case .newerFormat(let path, let version):
            "\(path) has format \(version), which a newer version wrote; use that version"
        }
    }
}
