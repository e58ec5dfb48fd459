import Glibc

/// Where an agent keeps its inbox, its lock and its tokens.
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

    /// The inbox's file in a state directory.
    static func inboxFile(in directory: String) -> String { directory + "/inbox.sqlite" }

    /// Where locks live that concern the whole machine's user: `$XDG_RUNTIME_DIR/kii-push`, else a directory of this
    /// user's in `/tmp`.
    package static func runtime(environment: (String) -> String?) -> String {
        if let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/") { return directory + "/kii-push" }
        return "/tmp/kii-push-\(geteuid())"
    }
}

/// The value of an environment variable; `nil` when it is unset or empty.
package func environmentVariable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
}
