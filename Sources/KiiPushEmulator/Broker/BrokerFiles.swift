import Glibc
package import KiiPushCore

package struct BrokerPorts: Sendable, Hashable {
    package var tcp: UInt16
    package var tls: UInt16
    /// 0 if not served.
    package var webSocket: UInt16
    /// 0 if not served.
    package var webSocketTLS: UInt16

    package init(tcp: UInt16, tls: UInt16, webSocket: UInt16 = 0, webSocketTLS: UInt16 = 0) {
        self.tcp = tcp
        self.tls = tls
        self.webSocket = webSocket
        self.webSocketTLS = webSocketTLS
    }
}

/// A client's login at the broker. The user name is also the last level of the only topic that the client may read.
package struct BrokerCredential: Sendable, Hashable {
    package var username: String
    package var password: Secret
}

struct Programs: Sendable {
    var mosquitto: String
    var mosquittoPasswd: String
    var openssl: String
    var setpriv: String

    /// Debian installs mosquitto in `/usr/sbin`, which a user's PATH may lack.
    private static let standardDirectories = [
        "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin",
    ]

    static func find(mosquitto: String?) throws(EmulatorError) -> Programs {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = path.split(separator: ":").map { String($0) } + Programs.standardDirectories
        let broker: String
        if let mosquitto {
            guard access(mosquitto, X_OK) == 0 else {
                throw EmulatorError(.programNotFound(mosquitto), "`\(mosquitto)` is not a program")
            }
            broker = mosquitto
        } else {
            broker = try Programs.find("mosquitto", in: directories)
        }
        return Programs(
            mosquitto: broker, mosquittoPasswd: try Programs.find("mosquitto_passwd", in: directories),
            openssl: try Programs.find("openssl", in: directories),
            setpriv: try Programs.find("setpriv", in: directories))
    }

    private static func find(_ program: String, in directories: [String]) throws(EmulatorError) -> String {
        for directory in directories where access("\(directory)/\(program)", X_OK) == 0 {
            return "\(directory)/\(program)"
        }
        throw EmulatorError(.programNotFound(program), "`\(program)` is not in \(directories.joined(separator: ":"))")
    }
}

struct BrokerFiles: Sendable {
    let directory: String
    var upgradesQoS = false

    var configuration: String { "\(self.directory)/mosquitto.conf" }
    var log: String { "\(self.directory)/mosquitto.log" }
    var passwords: String { "\(self.directory)/passwords" }
    var access: String { "\(self.directory)/access" }
    var certificates: Certificates { Certificates(directory: "\(self.directory)/certificates") }

    /// The first level of all topics. The next level is the user name of the client that may read the topic.
    static let topicPrefix = "push/"
    static let publisherName = "kii-push-emulator"

    /// mosquitto.conf(5): queued messages have no limit, and the broker refuses unknown clients.
    func configurationText(ports: BrokerPorts, persistence: BrokerPersistence, isRoot: Bool) -> String {
        """
        # Written at each start of the emulator.
        per_listener_settings false
        \(isRoot ? "user root" : "# not started as root: no user to change to")
        allow_anonymous false
        password_file \(self.passwords)
        acl_file \(self.access)
        persistence true
        persistence_location \(self.directory)/
        persistence_file mosquitto.db
        autosave_on_changes \(persistence == .everyChange)
        autosave_interval 1
        max_queued_messages 0
        max_queued_bytes 0
        max_inflight_messages 10000
        set_tcp_nodelay true
        upgrade_outgoing_qos \(self.upgradesQoS)
        connection_messages true
        log_dest stderr
        log_type error
        log_type warning
        log_type notice
        listener \(ports.tcp) 127.0.0.1
        listener \(ports.tls) 127.0.0.1
        certfile \(self.certificates.serverCertificate)
        keyfile \(self.certificates.serverKey)

        """
    }

    /// Each client may read the topic with its own user name. Only the emulator's publisher may write.
    static let accessText = """
        user \(BrokerFiles.publisherName)
        topic write \(BrokerFiles.topicPrefix)#
        pattern read \(BrokerFiles.topicPrefix)%u

        """

    func write(ports: BrokerPorts, persistence: BrokerPersistence, isRoot: Bool) throws(EmulatorError) {
        try EmulatorError.ofFile(OwnFile.replace(self.access, with: Array(BrokerFiles.accessText.utf8)))
        try EmulatorError.ofFile(
            OwnFile.replace(
                self.configuration,
                with: Array(self.configurationText(ports: ports, persistence: persistence, isRoot: isRoot).utf8)))
    }

    func lastLogLines() -> String {
        let bytes = (try? EmulatorError.ofFile(OwnFile.read(self.log))) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.suffix(3).joined(separator: " | ")
    }
}
