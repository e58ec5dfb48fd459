import KiiPushCommandLine
import KiiPushCore

enum FilesTopic {
    private enum Part {
        case file(String)
        case prose(String)
        case example([String])
    }

    static func text(_ width: Int) -> String {
        let parts = self.parts.map { part in
            switch part {
            case .file(let name): "\n\n" + wrapped(name, width: width)
            case .prose(let text): "\n" + self.indented(wrapped(text, width: width - 2), by: "  ")
            case .example(let lines): "\n" + self.indented(lines.joined(separator: "\n  "), by: "    ")
            }
        }
        return wrapped(self.introduction, width: width) + parts.joined() + "\n"
    }

    private static func indented(_ text: String, by margin: String) -> String {
        margin + text.replacing(bytesOf: "\n", with: "\n" + margin)
    }

    private static let introduction =
        "The files of kii-push. All are JSON with \"version\": 1; a file of a higher version is refused, and so is one with "
        + "a member that would be overlooked. Files that hold secrets must be no links, owned by you and closed to "
        + "others (mode 0600); config.json and profile.json decide where secrets go, so they and their folders must be owned by you or "
        + "root and writable by nobody else. Others are refused with exit code 78."

    private static let parts: [Part] = [
        .file("$XDG_CONFIG_HOME/kii-push/config.json (~/.config/kii-push/config.json)"),
        .prose(
            "Which cloud a profile uses. Written by you; no secrets. Per profile: \"site\" (us, jp, sg, eu, cn3) or "
                + "\"baseURL\", and \"appID\"; \"caFile\", \"clientCertificateFile\", \"clientKeyFile\", \"proxy\", "
                + "\"userAgent\", \"allowPlainHTTP\" and \"transport\" if needed."),
        .example([#"{"version": 1, "profiles": {"default": {"site": "jp", "appID": "0a1b2c3d"}}}"#]),
        .prose(
            "\"run\" says what 'kii-push run' does without options: \"exec\" (with \"shell\", \"execTimeout\"), "
                + "\"forwardTo\" (with \"forwardTimeout\"), or \"activate\" (with \"concurrency\", \"present\"); "
                + "\"arguments\", \"jobs\", \"grace\", \"exitWhenOffline\", \"keepAlive\", \"metricsFile\", "
                + "\"metricsSocket\"."),
        .example([
            #"{"version": 1, "profiles": {"default": {"site": "jp", "appID": "0a1b2c3d","#,
            #""run": {"exec": "/etc/kii-push/on-push", "execTimeout": "10s"}}}}"#,
        ]),
        .prose("\"subscriptions\" is what 'kii-push run', and 'kii-push subscribe' without a name, subscribe to."),
        .example([
            #"{"version": 1, "profiles": {"default": {"site": "jp", "appID": "0a1b2c3d","#,
            #""subscriptions": {"topics": ["alerts"], "buckets": ["user:me/notes"]}}}}"#,
        ]),
        .file("DIR/kii-push/config.json for each DIR of $XDG_CONFIG_DIRS (/etc/xdg)"),
        .prose(
            "The same for all users of the machine. A member is taken from the first file that has it, the user's own "
                + "before these. 'kii-push config show --origin' tells which one that was. /etc/kii-push/config.json is read by the "
                + "machine's service alone ('kii-push install-unit')."),
        .file("$XDG_CONFIG_HOME/kii-push/credentials.json"),
        .prose(
            "The secrets to it, mode 0600. Written by you. Per profile: \"appKey\"; \"clientID\" and \"clientSecret\" of "
                + "the app's admin, always both; \"password\" of the user or thing. The environment wins over it, and over "
                + "both what the file $CREDENTIALS_DIRECTORY/kii-push-credentials.json (systemd) says."),
        .example([#"{"version": 1, "profiles": {"default": {"appKey": "..."}}}"#]),
        .file(
            "$STATE_DIRECTORY/profiles/NAME, or $XDG_STATE_HOME/kii-push/profiles/NAME "
                + "(~/.local/state/kii-push/profiles/NAME)"),
        .prose(
            "What 'register' made: profile.json (the cloud and the principal), credentials.json, and the state of the agent "
                + "with its inbox. Directory 0700."),
        .file("$XDG_RUNTIME_DIR/kii-push/emulator.json, or /tmp/kii-push-UID/emulator.json"),
        .prose("Where the running emulator is found, mode 0600. Used when no cloud is configured."),
        .file("$XDG_RUNTIME_DIR/kii-push/receivers, or /tmp/kii-push-UID/receivers"),
        .prose("Links to the directories of profiles that receive from an emulator, for its page. Directory 0700."),
    ]
}
