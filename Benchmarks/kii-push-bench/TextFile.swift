import Glibc

enum TextFile {
    static func read(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw ChildProcess.Failure(description: "cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw ChildProcess.Failure(description: "cannot write \(path)") }
        let bytes = Array(text.utf8)
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else {
            throw ChildProcess.Failure(description: "cannot write \(path)")
        }
    }
}

/// A page of the documentation. A program writes the part between two marker lines.
struct MarkedPage {
    var path: String
    var begin: String
    var end: String

    /// Replaces the text between the marker lines. `text` ends with a newline.
    func replace(with text: String) throws {
        let (lines, begin, end) = try self.marked()
        let replaced = lines[...begin] + ["", Substring(text)] + lines[end...]
        try TextFile.write(replaced.joined(separator: "\n"), to: self.path)
    }

    /// Throws if the page or a marker line is missing. Call it before a long run.
    func check() throws { _ = try self.marked() }

    private func marked() throws -> (lines: [Substring], begin: Int, end: Int) {
        let page = try TextFile.read(self.path)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        guard let begin = lines.firstIndex(of: Substring(self.begin)),
            let end = lines[begin...].firstIndex(of: Substring(self.end))
        else { throw ChildProcess.Failure(description: "\(self.path) has no lines \(self.begin) and \(self.end)") }
        return (lines, begin, end)
    }
}
