import Glibc

/// The directory of a runtime's inbox, its lock and its tokens.
package enum StateDirectory {
    /// The directory by convention: `$STATE_DIRECTORY` (set by systemd), else `$XDG_STATE_HOME/kii-push`, else
    /// `~/.local/state/kii-push`; `nil` when none of them is known.
    static func standard(environment: (String) -> String?) -> String? {
        // systemd separates several directories by colons; the first is the unit's main one.
        if let directory = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(directory) }
        // The XDG specification: relative paths are to be ignored.
        if let home = environment("XDG_STATE_HOME"), home.hasPrefix("/") { return home + "/kii-push" }
        if let home = environment("HOME"), home.hasPrefix("/") { return home + "/.local/state/kii-push" }
        return nil
    }

    static func inboxFile(in directory: String) -> String { directory + "/inbox.sqlite" }

    /// The directory of the installations' locks, made where it is missing: a directory of this user's in `/tmp`. All
    /// processes of a user have to find the same one, so it depends on no variable: a login session has
    /// `$XDG_RUNTIME_DIR`, and cron has not.
    ///
    /// In `/tmp` another user may have made the directory first, and could then hold the locks, or redirect them to
    /// overwrite files of this user. If it is not this user's alone, the locks are in the state directory, which keeps
    /// its own processes apart anyway. Two processes with different state directories and one installation then knock
    /// each other off at the broker, and their agents report that.
    ///
    /// - Parameter shared: a directory in which anybody may make directories: `/tmp`.
    package static func locks(shared: String, in stateDirectory: String) throws(FileError) -> String {
        var directory = "\(shared)/kii-push-\(geteuid())"
        // Another user may have put something else in its place.
        try? PrivateFile.makeDirectory(directory)
        if !StateDirectory.isOwn(directory) { directory = stateDirectory }
        directory += "/installations"
        try PrivateFile.makeDirectory(directory)
        return directory
    }

    /// Whether `directory` is a directory of this user's alone. Call it after making the directory: nobody can change
    /// the answer later, since only the owner can replace an entry of `/tmp`.
    static func isOwn(_ directory: String) -> Bool {
        var status = stat()
        return lstat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
    }
}

/// The directory where programs of one user find each other while they run.
package enum RuntimeDirectory {
    /// The directory by convention: `$XDG_RUNTIME_DIR/kii-push`, else one of this user's in `/tmp`.
    package static func standard(environment: (String) -> String? = environmentVariable) -> String {
        // The XDG specification: relative paths are to be ignored.
        guard let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") else {
            return "/tmp/kii-push-\(geteuid())"
        }
        return directory + "/kii-push"
    }
}

/// The value of an environment variable; `nil` when it is unset or empty.
package func environmentVariable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
