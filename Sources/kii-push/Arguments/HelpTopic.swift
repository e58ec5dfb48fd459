/// A page that belongs to no single command: `kii-push help TOPIC`.
struct HelpTopic: Sendable {
    /// What it is asked for by.
    let name: String
    /// Other words for it; not shown in lists.
    var aliases: [String] = []
    /// The page in lines of at most so many columns where it is a table, with the end of the last line.
    let text: @Sendable (_ width: Int) -> String

    /// Every topic. Help, completions and manual pages know of no other list.
    static let all: [HelpTopic] = [
        HelpTopic(name: "scopes") { _ in scopesText },
        HelpTopic(name: "files", aliases: ["config"]) { _ in filesText },
        HelpTopic(name: "environment", text: environmentText),
        HelpTopic(name: "exit-codes", text: exitCodesText),
        json,
        HelpTopic(name: "formatting", text: MessageFormat.help),
        HelpTopic(name: "findings", text: LintCode.help),
    ]

    static let json = HelpTopic(name: "json") { _ in jsonText }

    /// The topic of this name.
    static func named(_ word: String) -> HelpTopic? {
        self.all.first { $0.name == word || $0.aliases.contains(word) }
    }

    private static func environmentText(_ width: Int) -> String {
        "The environment variables that kii-push reads.\n\n"
            + table(EnvironmentVariable.allCases.map { ($0.rawValue, $0.meaning) }, width: width)
            + "\n\n" + wrapped(Self.precedence, width: width) + "\n"
    }

    /// What wins over what.
    static let precedence =
        "An option wins over the environment, and that over a file, but for the secrets that systemd hands over in "
        + "$CREDENTIALS_DIRECTORY: those win over the environment."

    /// How it ends when nobody takes the output.
    static let brokenOutput =
        "When whoever reads the output goes away, as in 'kii-push help | head -1', the command ends without a word, and "
        + "that is success. Output that is closed or cannot be written for another reason is 74."

    private static func exitCodesText(_ width: Int) -> String {
        "What the exit codes of kii-push mean (sysexits.h, and those of timeout(1) and the shell).\n\n"
            + table(ExitStatus.allCases.map { (String($0.rawValue), $0.meaning) }, width: width)
            + "\n\n" + wrapped(Self.brokenOutput, width: width) + "\n"
    }

    private static let scopesText = """
        How topics and buckets are written, in every command.

          alerts                 in the scope of the app
          user:me/alerts         of the user that the profile receives as
          user:USER_ID/alerts    of the user with this ID
          group:GROUP_ID/alerts  of a group
          thing:me/alerts        of the thing that the profile receives as
          thing:THING_ID/alerts  of the thing with this ID

        Where a scope alone is asked for, the part before the slash is written:
        app, user:me, group:GROUP_ID, thing:THING_ID.

        """

    private static let filesText = """
        The files of kii-push. All are JSON with "version": 1; a file of a higher version
        is refused. Files that hold secrets must be owned by you and closed to others
        (mode 0600), or they are refused with exit code 78.

        $XDG_CONFIG_HOME/kii-push/config.json (~/.config/kii-push/config.json)
          Which cloud a profile uses. Written by you; no secrets. Per profile:
          "site" (us, jp, sg, eu, cn3) or "baseURL", and "appID"; "caFile" and "proxy"
          if needed.
            {"version": 1, "profiles": {"default": {"site": "jp", "appID": "0a1b2c3d"}}}
          "run" says what 'kii-push run' does without options: "exec" (with "shell",
          "execTimeout"), "forwardTo" (with "forwardTimeout"), or "activate" (with "stdin",
          "concurrency"); "arguments", "jobs", "grace", "exitWhenOffline".
            {"version": 1, "profiles": {"default": {"site": "jp", "appID": "0a1b2c3d",
              "run": {"exec": "/etc/kii-push/on-push", "execTimeout": "10s"}}}}
          "subscriptions" is what 'kii-push sync' subscribes to.
            {"version": 1, "profiles": {"default": {"site": "jp", "appID": "0a1b2c3d",
              "subscriptions": {"topics": ["alerts"], "buckets": ["user:me/notes"]}}}}

        DIR/kii-push/config.json for each DIR of $XDG_CONFIG_DIRS (/etc/xdg), then /etc
          The same for all users of the machine. A member is taken from the first file
          that has it, the user's own before these. 'kii-push config show --origin' tells
          which one that was.

        $XDG_CONFIG_HOME/kii-push/credentials.json
          The secrets to it, mode 0600. Written by you. Per profile: "appKey"; "clientID"
          and "clientSecret" of the app's admin, always both; "password" of the user or
          thing. The environment wins over it, and over both what the file
          $CREDENTIALS_DIRECTORY/kii-push-credentials.json (systemd) says.
            {"version": 1, "profiles": {"default": {"appKey": "..."}}}

        $STATE_DIRECTORY/profiles/NAME, or $XDG_STATE_HOME/kii-push/profiles/NAME
        (~/.local/state/kii-push/profiles/NAME)
          What 'register' made: profile.json (the cloud and the principal),
          credentials.json, and the state of the agent with its inbox. Directory 0700.

        $XDG_RUNTIME_DIR/kii-push/emulator.json, or /tmp/kii-push-UID/emulator.json
          Where the running emulator is found, mode 0600. Used when no cloud is
          configured.

        """

    private static let jsonText = """
        What --json prints: one object a line, each with "v": 1 and "type". Members may be
        added; those that exist do not change while "v" stays 1. Times are RFC 3339 in
        UTC, durations end in _ms.

          registration, identity, subscription, topic, sent, emulator, path, request, fixture
                     what the command of that purpose did or found
          difference of sync: kind, name and scope; difference (missing, surplus); changed
          setting    of config show: name, value (of a secret: none), secret, set, origin
          message    a push: kind, fields, aps, custom, payload; when received also id,
                     attempt, installation, received_at
          explanation
                     what 'explain' says of a payload: kind, decided_by (key, pointer, field,
                     because), keys, keys_because, bytes, fields and aps.keys (pointer, name,
                     value, meaning, reading, source), custom and ignored (pointer, value,
                     because), findings (code, level, pointer, message, advice: 'kii-push help
                     findings'), names (what the IDs lead to), and refused (code, reason,
                     pointer; byte, line, column) where receivers refuse it
          verdict    what became of a message: id, result (newData, noData, failed,
                     dead, late, again), and why
          trace      a message's life: id, state, what it is, and events, each with event, at,
                     offset_ms (since its reception) and what belongs to it; missing: what
                     is not recorded
          check      of doctor: code (such as DNS, stable), server (cloud or broker) where it
                     is about one, title, outcome (ok, warning, failed, skipped), evidence,
                     and where there are any fix and exit (the exit code that it stands for)
          state      the connection: connected, offline and so on, and why
          help       what 'kii-push help --json' prints: name, version, abstract, examples
                     (purpose, line), discussion, usage, aliases, arguments and options
                     (names, value, help, default, values, completes, required,
                     repeatable, section), exit_codes (code, category, meaning),
                     environment (name, meaning), topics, and commands: the same of
                     each command below

        Errors go to standard error as one object with "type": "error", category, message,
        exit, and hint, code, http_status where there are any. "in_doubt": true tells that it
        may have been done all the same, and would be done twice by the same command.

        """
}
