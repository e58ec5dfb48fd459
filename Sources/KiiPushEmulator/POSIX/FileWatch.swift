import Glibc

/// Tells when a file is written to, or a folder's entries change (inotify(7)).
struct FileWatch: ~Copyable {
    /// Readable once that has happened.
    let descriptor: FileDescriptor

    init(_ path: String, for events: Int32 = IN_MODIFY) throws(EmulatorError) {
        let raw = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard raw >= 0 else { throw .system("watch \(path)", errno) }
        let descriptor = FileDescriptor(owning: raw)
        guard inotify_add_watch(raw, path, UInt32(events)) >= 0 else { throw .system("watch \(path)", errno) }
        self.descriptor = descriptor
    }

    /// Forgets what has happened until now.
    func reset() {
        var events = [UInt8](repeating: 0, count: 4096)
        while read(self.descriptor.raw, &events, events.count) > 0 {}
    }
}
