import Glibc
import KiiPushCore

/// Watches a file for writes, or a folder for new entries (inotify(7)).
struct FileWatch {
    let descriptor: FileDescriptor

    init(_ path: String, for events: Int32 = IN_MODIFY) throws(EmulatorError) {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { throw .system("watch \(path)", errno) }
        self.descriptor = FileDescriptor(number)
        guard inotify_add_watch(number, path, UInt32(events)) >= 0 else { throw .system("watch \(path)", errno) }
    }

    func reset() {
        var events = [UInt8](repeating: 0, count: 4096)
        while self.descriptor.read(into: &events) > 0 {}
    }
}
