import Glibc

/// The position of a file on its disk. Takes root.
enum FileBlocks {
    // From linux/fs.h, whose macros Swift does not import.
    private static let blockOfFile: UInt = 1
    private static let blockSize: UInt = 2

    /// The byte ranges of the disk that hold the file.
    static func ranges(of path: String) throws -> [Range<Int>] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var size: Int32 = 0
        var status = stat()
        guard ioctl(file, self.blockSize, &size) == 0, fstat(file, &status) == 0 else {
            throw FaultError("cannot find the blocks of \(path): errno \(errno)")
        }
        var ranges: [Range<Int>] = []
        for index in 0..<Int32(Int(status.st_size) / Int(size)) {
            var block = index
            // A hole in the file has no block.
            guard ioctl(file, self.blockOfFile, &block) == 0, block > 0 else { continue }
            let first = Int(block) * Int(size)
            if let last = ranges.last, last.upperBound == first {
                ranges[ranges.count - 1] = last.lowerBound..<first + Int(size)
            } else {
                ranges.append(first..<first + Int(size))
            }
        }
        return ranges
    }
}
