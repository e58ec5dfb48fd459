import Glibc

package enum StateDirectory {
    /// `$STATE_DIRECTORY` (set by systemd), else `$XDG_STATE_HOME/kii-push`, else `~/.local/state/kii-push`; `nil` if
    /// no variable has a usable value.
    static func standard(environment: (String) -> String?) -> String? {
        // systemd separates several directories by colons; the first is the unit's main one.
        if let directory = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(directory) }
        // XDG specification: relative paths are to be ignored.
        if let home = environment("XDG_STATE_HOME"), home.hasPrefix("/") { return home + "/kii-push" }
        if let home = environment("HOME"), home.hasPrefix("/") { return home + "/.local/state/kii-push" }
        return nil
    }

    static func inboxFile(in directory: String) -> String { directory + "/inbox.sqlite" }

    /// Makes and returns the directory of the installations' locks: in `/tmp`, where all processes of a user find it,
    /// since cron sets no `$XDG_RUNTIME_DIR`.
    ///
    /// If another user has made the directory first, the locks are in the state directory. Processes with different
    /// state directories can then receive as one installation; their agents report that.
    package static func locks(shared: String, in stateDirectory: String) throws(FileError) -> String {
        var directory = "\(shared)/kii-push-\(geteuid())"
        try? PrivateFile.makeDirectory(directory)
        if !StateDirectory.isOwn(directory) { directory = stateDirectory }
        directory += "/installations"
        try PrivateFile.makeDirectory(directory)
        return directory
    }

    /// Whether `directory` is this user's alone. Call this after making the directory: in `/tmp`, only the owner can
    /// replace it.
    static func isOwn(_ directory: String) -> Bool {
        var status = stat()
        return lstat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
    }
}

package enum RuntimeDirectory {
    /// `$XDG_RUNTIME_DIR/kii-push`, else a directory of this user's in `/tmp`.
    package static func standard(environment: (String) -> String? = environmentVariable) -> String {
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else {
            return "/tmp/kii-push-\(geteuid())"
        }
        return directory + "/kii-push"
    }
}

/// `nil` if the variable is unset or empty.
package func environmentVariable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
