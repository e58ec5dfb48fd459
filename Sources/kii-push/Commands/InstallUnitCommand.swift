import Glibc
import KiiPushCommandLine
import KiiPushCore

struct InstallUnitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install-unit", abstract: "Writes a systemd unit that runs 'kii-push run' for a profile.",
        examples: [
            ("For the machine, as a user of its own", "sudo kii-push install-unit"),
            ("For the desktop of whoever is logged in", "kii-push install-unit --user"),
            ("Only look at it", "kii-push install-unit --print"),
        ],
        discussion: [
            "Who handles the messages is said in config.json, in \"run\" of the profile: kii-push help files.",
            "A unit of the machine reads \(UnitFile.configuration), and the secrets from \(UnitFile.credentials), which "
                + "systemd hands to it alone. Both are yours to write. Its state is in /var/lib/kii-push. At its first start "
                + "it registers as a user of its own.",
            "A file that is there and says something else is left alone without --force.",
        ],
        exitCodes: [.cannotCreate, .inputOutput, .configuration], environment: [.profile, .configurationHome, .home]
    )

    @Flag(help: "For the machine: /etc/systemd/system. The default.") var system = false
    @Flag(help: "For this user: $XDG_CONFIG_HOME/systemd/user.") var user = false
    @Option(value: "DIRECTORY", help: "Write it there instead.", completion: .directory) var directory: String?
    @Flag(help: "Write it to standard output instead.") var print = false
    @Flag(help: "Replace a file that says something else.") var force = false
    @OptionGroup(title: "Profile") var name: ProfileNameOptions

    func validate() throws {
        try self.exclude("system", "user")
        if self.directory == "" { throw CommandFailure(.usage, "'--directory' names no directory") }
        try self.exclude("print", "force")
        try self.exclude("print", "directory")
    }

    func run() async throws {
        let kind: UnitFile.Kind = self.user ? .user : .system
        let profile = try ProfileLocation(named: self.name.profile)
        let unit = UnitFile(kind: kind, profile: profile.name, program: try Self.program())
        guard !self.print else { return try StandardStream.output.write(unit.text) }
        let directory = try self.directory ?? Self.directory(of: kind)
        let path = "\(directory)/\(unit.name)"
        let isNew = try self.write(unit.text, to: path)
        let systemctl = kind == .user ? "systemctl --user" : "systemctl"
        try StandardStream.output.write("\(path)\(isNew ? "" : " is as it should be")\n")
        let isHidden = ["/home/", "/root/", "/run/user/", "/tmp/"].contains { unit.program.hasPrefix($0) }
        if kind == .system, isHidden {
            Console().warning("the service does not see \(unit.program); install it in /usr/local/bin")
        }
        let missing = kind == .system ? [UnitFile.configuration, UnitFile.credentials].filter(Self.isMissing) : []
        let files = missing.joined(separator: " and ")
        let writing = missing.isEmpty ? "" : "write \(files) ('kii-push help files'), then "
        StandardStream.error.say(
            "next: \(writing)\(systemctl) daemon-reload && \(systemctl) enable --now \(unit.name)\n")
    }

    private static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    private static func program() throws -> String {
        guard let path = ProgramLookup.own else {
            throw CommandFailure(.failure, "cannot find out where this program is: \(errorText(errno))")
        }
        // A line break in the path would start another setting of the unit.
        guard path.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw CommandFailure(
                .configuration, "\(path) cannot stand in a unit: the path holds a line end or a control character",
                hint: "install kii-push in /usr/local/bin")
        }
        return path
    }

    private static func directory(of kind: UnitFile.Kind) throws -> String {
        try kind == .user ? FilePaths.configurationHome() + "/systemd/user" : "/etc/systemd/system"
    }

    private func write(_ text: String, to path: String) throws -> Bool {
        if access(path, F_OK) == 0 {
            if let bytes = try? InputFile.read(path), bytes == Array(text.utf8) { return false }
            guard self.force else {
                throw CommandFailure(
                    .cannotCreate, "\(path) is there and says something else",
                    hint: "look at it, then replace it with --force; or change it with a drop-in: systemctl edit")
            }
        }
        try Self.makeDirectories(above: path)
        do throws(FileError) {
            // Atomic, because systemd may read the file at any time.
            try OwnFile.replace(path, with: Array(text.utf8), mode: 0o644)
        } catch {
            if case .system(_, _, let code) = error { throw Self.failure(path, code) }
            throw error
        }
        return true
    }

    private static func makeDirectories(above path: String) throws {
        let parts = path.split(separator: "/").dropLast()
        for count in parts.indices.map({ $0 + 1 }) {
            let directory = (path.hasPrefix("/") ? "/" : "") + parts.prefix(count).joined(separator: "/")
            guard mkdir(directory, 0o755) != 0, errno != EEXIST, access(directory, F_OK) != 0 else { continue }
            throw Self.failure(directory, errno)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            .cannotCreate, "cannot write \(path): \(errorText(code))",
            hint: code == EACCES ? "as root (sudo), or with --user for yourself" : nil)
    }
}
