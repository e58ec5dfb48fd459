import Glibc
import KiiPushCore

struct Certificates: Sendable {
    let directory: String

    var authority: String { "\(self.directory)/ca.crt" }
    var serverCertificate: String { "\(self.directory)/server.crt" }
    var serverKey: String { "\(self.directory)/server.key" }

    /// A certificate that expires within 30 days is replaced at the next start.
    private static let renewalSeconds = 30 * 86_400

    /// Used instead of the system's `openssl.cnf`, whose content varies.
    private static let configuration = """
        [req]
        distinguished_name = name
        prompt = no
        [name]
        CN = kii-push emulator
        [authority]
        basicConstraints = critical, CA:TRUE, pathlen:0
        keyUsage = critical, keyCertSign, cRLSign
        subjectKeyIdentifier = hash
        [server]
        basicConstraints = critical, CA:FALSE
        keyUsage = critical, digitalSignature
        extendedKeyUsage = serverAuth
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        subjectAltName = DNS:localhost, IP:127.0.0.1

        """

    func ensure(programs: Programs) throws(EmulatorError) {
        let log = "\(self.directory).log"
        if try EmulatorError.ofFile(OwnFile.read(self.serverKey)) != nil {
            let stillGood = try TetheredProcess.run(
                programs.openssl,
                ["x509", "-in", self.serverCertificate, "-noout", "-checkend", "\(Certificates.renewalSeconds)"],
                output: log, launcher: programs.setpriv)
            if stillGood == 0 { return }
        }
        // The files are created in a temporary directory and renamed, so that an interrupted start leaves no
        // incomplete set.
        let draft = Certificates(directory: "\(self.directory).new")
        Directory.remove(draft.directory)
        try EmulatorError.ofFile(PrivateFile.makeDirectory(draft.directory))
        try EmulatorError.ofFile(
            OwnFile.replace("\(draft.directory)/openssl.cnf", with: Array(Certificates.configuration.utf8)))
        for arguments in draft.commands {
            let code = try TetheredProcess.run(programs.openssl, arguments, output: log, launcher: programs.setpriv)
            guard code == 0 else {
                throw EmulatorError(.certificatesFailed, "`openssl \(arguments[0])` ended with \(code), see \(log)")
            }
        }
        Directory.remove(self.directory)
        guard rename(draft.directory, self.directory) == 0 else {
            throw .system("move \(draft.directory) to \(self.directory)", errno)
        }
    }

    func serverIdentity() throws(EmulatorError) -> (key: Secret, certificate: String) {
        guard let key = try EmulatorError.ofFile(OwnFile.read(self.serverKey)),
            let certificate = try EmulatorError.ofFile(OwnFile.read(self.serverCertificate))
        else {
            throw EmulatorError(.certificatesFailed, "the server's certificate is gone from \(self.directory)")
        }
        return (Secret(String(decoding: key, as: UTF8.self)), String(decoding: certificate, as: UTF8.self))
    }

    private var commands: [[String]] {
        let configuration = "\(self.directory)/openssl.cnf"
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256"]
        return [
            ["req", "-config", configuration, "-x509", "-extensions", "authority", "-days", "3650"] + curve
                + ["-keyout", "\(self.directory)/ca.key", "-out", self.authority],
            ["req", "-config", configuration, "-new", "-subj", "/CN=localhost"] + curve
                + ["-keyout", self.serverKey, "-out", "\(self.directory)/server.csr"],
            [
                "x509", "-req", "-in", "\(self.directory)/server.csr", "-CA", self.authority,
                "-CAkey", "\(self.directory)/ca.key", "-CAcreateserial", "-days", "3650", "-sha256",
                "-extfile", configuration, "-extensions", "server", "-out", self.serverCertificate,
            ],
        ]
    }
}
