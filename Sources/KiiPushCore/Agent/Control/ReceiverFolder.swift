import Glibc

/// A folder of links to the state directories of the programs that receive from a cloud on this machine. The cloud
/// finds the programs through it, with the control socket and the inbox behind each link.
package struct ReceiverFolder: Sendable {
    /// A program that receives, or that was killed while it did.
    package struct Entry: Sendable, Hashable {
        /// The name for people: mostly the last component of ``stateDirectory``. No two entries share a name.
        package var name: String
        package var stateDirectory: String
    }

    package let path: String

    package init(in runtimeDirectory: String) { self.path = runtimeDirectory + "/receivers" }

    /// Makes the folder where it is missing, and links to a state directory; `nil` where that cannot be done.
    func announce(_ stateDirectory: String) -> ReceiverLink? {
        // A folder that cannot be made is none of this user's either.
        try? PrivateFile.makeDirectory(self.path)
        guard StateDirectory.isOwn(self.path), let target = Directory.resolved(stateDirectory),
            let name = target.split(separator: "/").last
        else { return nil }
        let digest = SHA256.hexadecimal(Array(target.utf8)).prefix(8)
        for name in ["\(name)", "\(name).\(digest)"] {
            let path = "\(self.path)/\(name)"
            // A killed process may have left the link. Made anew, it is news for watchers of the folder.
            if Directory.resolved(path) == target { unlink(path) }
            if symlink(target, path) == 0 { return ReceiverLink(path: path, target: target) }
        }
        return nil
    }

    /// The programs with a link, by name. Removes links to directories that are gone.
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

struct ReceiverLink: Sendable {
    fileprivate let path: String
    fileprivate let target: String

    /// Removes the link, unless another program has it by now.
    func withdraw() {
        if Directory.resolved(self.path) ?? self.target == self.target { unlink(self.path) }
    }
}
