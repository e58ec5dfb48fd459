import Glibc
import KiiPushCore

package enum InputFile {
    /// 16 MiB. Larger input is not a payload but a mistake.
    package static let maximumBytes = 16 * 1024 * 1024

    /// - Throws: ``CommandFailure`` with exit 66 if the file is missing, unreadable, a directory or too large.
    package static func read(_ path: String) throws -> [UInt8] {
        guard path != "-" else { return try self.read(descriptor: STDIN_FILENO, name: "standard input") }
        guard let file = FileDescriptor(opening: path, O_RDONLY) else {
            throw CommandFailure(.missingInput, "cannot open \(path): \(errorText(errno))")
        }
        return try withExtendedLifetime(file) { try self.read(descriptor: file.number, name: path) }
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    package static func firstLineOfStandardInput() throws -> String {
        let end = UInt8(ascii: "\n")
        let bytes = try self.read(descriptor: STDIN_FILENO, name: "standard input", until: end)
        return String(decoding: bytes.prefix { $0 != end && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }

    /// - Parameter end: the byte that ends the input, for a writer that keeps the pipe open.
    private static func read(descriptor: Int32, name: String, until end: UInt8? = nil) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= self.maximumBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
                if let end, chunk[..<count].contains(end) { return bytes }
            } else if errno != EINTR {
                throw CommandFailure(.missingInput, "cannot read \(name): \(errorText(errno))")
            }
        }
        throw CommandFailure(.missingInput, "\(name) is larger than 16 MiB: this is no payload")
    }
}
