import Glibc

/// Where a file is on its disk. Takes root.
enum FileBlocks {
    // linux/fs.h; its macros are not seen by Swift.
    private static let blockOfFile: UInt = 1
    private static let blockSize: UInt = 2

    /// The ranges of bytes of the disk that the file's blocks are.
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
            // A hole is at no block.
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
