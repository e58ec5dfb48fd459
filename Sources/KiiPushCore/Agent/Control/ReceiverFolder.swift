import Glibc

/// A folder with a link to the state directory of each program that receives from a cloud on this machine. The cloud
/// finds the programs through the folder.
package struct ReceiverFolder: Sendable {
    package struct Entry: Sendable, Hashable {
        /// A unique name, mostly the last component of ``stateDirectory``.
        package var name: String
        package var stateDirectory: String
    }

    package let path: String

    package init(in runtimeDirectory: String) { self.path = runtimeDirectory + "/receivers" }

    /// Makes the link. The returned object removes it when it is released, unless the name leads elsewhere by then.
    func announce(_ stateDirectory: String) -> Fuse? {
        try? PrivateFile.makeDirectory(self.path)
        guard StateDirectory.isOwn(self.path), let target = Directory.resolved(stateDirectory),
            let name = target.split(separator: "/").last
        else { return nil }
        let digest = SHA256.hexadecimal(Array(target.utf8)).prefix(8)
        for name in ["\(name)", "\(name).\(digest)"] {
            let path = "\(self.path)/\(name)"
            // A killed process may have left the same link. Only a new link notifies the folder's watchers.
            if Directory.resolved(path) == target { unlink(path) }
            guard symlink(target, path) == 0 else { continue }
            return Fuse { if Directory.resolved(path) ?? target == target { unlink(path) } }
        }
        return nil
    }

    /// The programs with a link, sorted by name. Removes links to deleted directories.
    package func entries() -> [Entry] {
        guard StateDirectory.isOwn(self.path) else { return [] }
        var entries: [Entry] = []
        for name in Directory.names(in: self.path) ?? [] {
            let path = "\(self.path)/\(name)"
            if let target = Directory.resolved(path) {
                entries.append(Entry(name: name, stateDirectory: target))
            } else if errno == ENOENT {
                unlink(path)
            }
        }
        return entries.sorted { $0.name < $1.name }
    }
}
