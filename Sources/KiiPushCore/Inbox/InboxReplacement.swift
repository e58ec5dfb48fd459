import Glibc

/// The files of the replacement of a damaged inbox. Whenever the process ends, either the damaged file or the whole new
/// one is there afterwards.
///
/// 1. ``partial`` is filled from the damaged file. The next replacement begins it anew.
/// 2. Whole and on the disk, it gets the name ``complete``.
/// 3. The damaged file and its log are moved aside.
/// 4. ``complete`` gets the inbox's own name. Whoever opens the inbox does this if it is still to be done.
struct InboxReplacement {
    private let path: String
    /// The longest wait of others for the replacement. It waits longer itself, since others come one after the other.
    private let patience: Duration

    init(of path: String, patience: Duration) { (self.path, self.patience) = (path, patience) }
    var partial: String { self.path + ".partial" }
    private var complete: String { self.path + ".new" }

    private static let logSuffixes = ["-wal", "-shm", InboxMark.suffix]

    /// Finishes a replacement that was interrupted.
    func finish(now: Timestamp) throws(InboxError) {
        guard self.exists(self.complete) else { return }
        // The damaged file is still there: the inbox will find the damage again, and make a newer replacement.
        guard !self.exists(self.path) else { return self.remove(self.complete) }
        try self.changeNames { () throws(InboxError) in
            // SQLite would use a log of the file that was moved aside for the new one.
            self.moveLogs(to: self.asidePath(now))
            try self.rename(self.complete, to: self.path)
        }
    }

    /// Finishes an earlier try at the replacement that is named after `now`. Returns whether the new file is in its
    /// place: the damaged one is then at ``asidePath(_:)``.
    func finishEarlierTry(now: Timestamp) throws(InboxError) -> Bool {
        try self.finish(now: now)
        let aside = self.asidePath(now)
        guard self.exists(aside) || self.exists(aside + InboxMark.suffix), self.exists(self.path) else { return false }
        try self.flushDirectory()
        return true
    }

    /// A free name for the damaged file. Files that were moved aside before stay.
    func freeAsidePath(now: Timestamp) -> String {
        var later = now
        while ([""] + Self.logSuffixes).contains(where: { self.exists(self.asidePath(later) + $0) }) {
            later = later + .milliseconds(1)
        }
        return self.asidePath(later)
    }

    /// Puts the filled and closed file in the place of the damaged one, which gets the name `aside`.
    func putInPlace(aside: String) throws(InboxError) {
        try self.flush(self.partial)
        try self.rename(self.partial, to: self.complete)
        try self.changeNames { () throws(InboxError) in
            // A file that is gone may have left its log and its mark.
            if self.exists(self.path) { try self.rename(self.path, to: aside) }
            self.moveLogs(to: aside)
            try self.rename(self.complete, to: self.path)
        }
    }

    private func changeNames(_ body: () throws(InboxError) -> Void) throws(InboxError) {
        try InboxNames.keep(of: self.path, changes: true, within: self.patience * 10, body)
        try self.flushDirectory()
    }

    private func flushDirectory() throws(InboxError) {
        let end = self.path.lastIndex(of: "/")
        try self.flush(end.map { String(self.path[...$0]) } ?? ".")
    }

    private func asidePath(_ now: Timestamp) -> String { "\(self.path).damaged-\(now.millisecondsSinceEpoch)" }

    // A log or a mark may be missing.
    private func moveLogs(to aside: String) {
        for suffix in Self.logSuffixes { _ = Glibc.rename(self.path + suffix, aside + suffix) }
    }

    func remove(_ path: String) { for suffix in [""] + Self.logSuffixes { _ = unlink(path + suffix) } }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func rename(_ path: String, to other: String) throws(InboxError) {
        guard Glibc.rename(path, other) == 0
        else { throw InboxError(.cannotOpen, step: "renaming a file", systemError: errno) }
    }

    /// Flushes a file, or the names in a directory, to the disk.
    private func flush(_ path: String) throws(InboxError) {
        guard let file = FileDescriptor(opening: path, O_RDONLY)
        else { throw InboxError(.cannotOpen, step: "opening what is to be flushed", systemError: errno) }
        guard fsync(file.number) == 0 else { throw InboxError(.io, step: "flushing", systemError: errno) }
    }
}
