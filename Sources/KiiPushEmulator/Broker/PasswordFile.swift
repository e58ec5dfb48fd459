import Glibc
import KiiPushCore

struct PasswordFile {
    private let path: String
    private let programs: Programs
    private var lines: [String: String]
    /// Whether the file still contains removed user names because a write failed.
    private(set) var isStale = false

    /// Ignores the lines of deleted installations, whose user names are not in `known`.
    init(path: String, programs: Programs, known: Set<String>) throws(EmulatorError) {
        self.path = path
        self.programs = programs
        self.lines = PasswordFile.parse(try EmulatorError.ofFile(OwnFile.read(path)) ?? []).filter {
            known.contains($0.key)
        }
    }

    func contains(_ username: String) -> Bool { self.lines[username] != nil }

    mutating func set(_ credentials: [BrokerCredential]) throws(EmulatorError) {
        // The passwords are in a file of mode 0600, since all users of the machine can read the arguments of a
        // program.
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
        // Set only after success, so that names from a failed attempt are written again.
        self.lines = lines
    }

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
