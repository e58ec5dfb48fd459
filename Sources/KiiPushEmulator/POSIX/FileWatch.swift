import Glibc
import KiiPushCore

/// Tells when a file is written to, or a folder's entries change (inotify(7)).
struct FileWatch {
    /// Readable once that has happened.
    let descriptor: FileDescriptor

    init(_ path: String, for events: Int32 = IN_MODIFY) throws(EmulatorError) {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { throw .system("watch \(path)", errno) }
        self.descriptor = FileDescriptor(number)
        guard inotify_add_watch(number, path, UInt32(events)) >= 0 else { throw .system("watch \(path)", errno) }
    }

    /// Forgets what has happened until now.
    func reset() {
        var events = [UInt8](repeating: 0, count: 4096)
        while self.descriptor.read(into: &events) > 0 {}
    }
}
