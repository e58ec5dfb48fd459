import Glibc
import KiiPushCore

/// The broker's password file, in mosquitto's own format, with hashes made by mosquitto's own program.
struct PasswordFile {
    private let path: String
    private let programs: Programs
    /// User name to its line, as the broker reads it.
    private var lines: [String: String]
    /// Whether names that were taken out are still in the file, since it could not be written.
    private(set) var isStale = false

    /// Takes over the lines of `path` whose names are in `known`; any other is of an installation that is gone.
    init(path: String, programs: Programs, known: Set<String>) throws(EmulatorError) {
        self.path = path
        self.programs = programs
        self.lines = PasswordFile.parse(try EmulatorError.ofFile(OwnFile.read(path)) ?? []).filter {
            known.contains($0.key)
        }
    }

    func contains(_ username: String) -> Bool { self.lines[username] != nil }

    /// Adds or replaces credentials and writes the file.
    mutating func set(_ credentials: [BrokerCredential]) throws(EmulatorError) {
        // Through a file of mode 0600 and not through arguments, which every user of the machine may read.
        let draft = "\(self.path).plain"
        let plain = credentials.map { "\($0.username):\($0.password.reveal())\n" }.joined()
        try EmulatorError.ofFile(OwnFile.replace(draft, with: Array(plain.utf8)))
        defer { unlink(draft) }
        let log = "\(self.path).log"
        let code = try TetheredProcess.run(
            self.programs.mosquittoPasswd, ["-U", draft], output: log, launcher: self.programs.setpriv)
        guard code == 0, let hashed = try EmulatorError.ofFile(OwnFile.read(draft)) else {
            throw EmulatorError(.brokerFailed, "`mosquitto_passwd -U` ended with \(code), see \(log)")
        }
        let lines = self.lines.merging(PasswordFile.parse(hashed)) { _, new in new }
        try self.write(lines)
        // Only now: who is in here is not written again.
        self.lines = lines
    }

    /// Takes names out and writes the file. Should that fail, it ``isStale`` until one without them is written.
    mutating func remove(_ usernames: [String]) throws(EmulatorError) {
        for username in usernames { self.lines[username] = nil }
        self.isStale = true
        try self.write(self.lines)
    }

    mutating func rewrite() throws(EmulatorError) { try self.write(self.lines) }

    private mutating func write(_ lines: [String: String]) throws(EmulatorError) {
        let text = lines.values.sorted().map { $0 + "\n" }.joined()
        try EmulatorError.ofFile(OwnFile.replace(self.path, with: Array(text.utf8)))
        self.isStale = false
    }

    private static func parse(_ content: [UInt8]) -> [String: String] {
        var lines: [String: String] = [:]
        for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            lines[String(line[..<colon])] = String(line)
        }
        return lines
    }
}
