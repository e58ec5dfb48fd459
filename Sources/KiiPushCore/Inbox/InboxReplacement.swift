import Glibc

/// The files of the replacement of a damaged inbox. If the process dies at any point, the damaged file or the complete
/// new one still exists.
///
/// 1. Fill ``partial`` from the damaged file. A later attempt starts with an empty file.
/// 2. Flush the file to the disk, and rename it to ``complete``.
/// 3. Move the damaged file and its log aside.
/// 4. Rename ``complete`` to the inbox's name. After an interruption, the next process that opens the inbox for writing
///    does this.
struct InboxReplacement {
    private let path: String
    /// Readers wait this long for a replacement. A replacement waits ten times as long for readers, since readers may
    /// follow one another.
    private let patience: Duration

    init(of path: String, patience: Duration) { (self.path, self.patience) = (path, patience) }
    var partial: String { self.path + ".partial" }
    private var complete: String { self.path + ".new" }

    func finish(now: Timestamp) throws(InboxError) {
        guard self.exists(self.complete) else { return }
        // The damaged file still has its name. Opening the inbox will find the damage again and make a newer
        // replacement.
        guard !self.exists(self.path) else { return InboxFile.remove(self.complete) }
        try self.changeNames { () throws(InboxError) in
            // If the damaged file's log kept its name, SQLite would apply the log to the new file.
            self.moveLogs(to: self.damagedPath(now))
            try self.rename(self.complete, to: self.path)
        }
    }

    /// Finishes an earlier replacement with the same `now`. Returns whether the new file is in place.
    func resumeReplacement(now: Timestamp) throws(InboxError) -> Bool {
        try self.finish(now: now)
        let aside = self.damagedPath(now)
        guard self.exists(aside) || self.exists(aside + InboxMark.suffix), self.exists(self.path) else { return false }
        try self.flushDirectory()
        return true
    }

    func unusedDamagedPath(now: Timestamp) -> String {
        var later = now
        while InboxFile.suffixes.contains(where: { self.exists(self.damagedPath(later) + $0) }) {
            later = later + .milliseconds(1)
        }
        return self.damagedPath(later)
    }

    func putInPlace(aside: String) throws(InboxError) {
        try self.flush(self.partial)
        try self.rename(self.partial, to: self.complete)
        try self.changeNames { () throws(InboxError) in
            // The file may be missing while its log or its mark exists.
            if self.exists(self.path) { try self.rename(self.path, to: aside) }
            self.moveLogs(to: aside)
            try self.rename(self.complete, to: self.path)
        }
    }

    private func changeNames(_ body: () throws(InboxError) -> Void) throws(InboxError) {
        try InboxNames.keep(of: self.path, changes: true, within: self.patience * 10, body)
        try self.flushDirectory()
    }

    private func flushDirectory() throws(InboxError) { try self.flush(Directory.parent(of: self.path)) }

    private func damagedPath(_ now: Timestamp) -> String { "\(self.path).damaged-\(now.millisecondsSinceEpoch)" }

    private func moveLogs(to aside: String) {
        for suffix in InboxFile.logSuffixes { _ = Glibc.rename(self.path + suffix, aside + suffix) }
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func rename(_ path: String, to other: String) throws(InboxError) {
        guard Glibc.rename(path, other) == 0
        else { throw InboxError(.cannotOpen, step: "renaming a file", systemError: errno) }
    }

    private func flush(_ path: String) throws(InboxError) {
        guard let file = FileDescriptor(opening: path, O_RDONLY)
        else { throw InboxError(.cannotOpen, step: "opening what is to be flushed", systemError: errno) }
        guard fsync(file.number) == 0 else { throw InboxError(.io, step: "flushing", systemError: errno) }
    }
}
