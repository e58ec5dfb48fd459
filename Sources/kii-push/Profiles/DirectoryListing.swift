import Glibc

/// The names of what is in a directory, in no order; none for one that is not there or cannot be read.
func fileNames(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let capacity = MemoryLayout.size(ofValue: entry.pointee.d_name)
        names.append(
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: capacity) { String(cString: $0) }
            })
    }
    return names
}
