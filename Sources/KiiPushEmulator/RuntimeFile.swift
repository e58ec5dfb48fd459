import Glibc
import KiiPushCore

/// `emulator.json`: the addresses of a running emulator and the app's credentials, for the command line tool.
struct RuntimeFile: Sendable {
    private let path: String
    private let bytes: [UInt8]

    /// Writes the file with mode 0600, in a directory that belongs to this user. A missing directory gets mode 0700.
    init(
        writing path: String, app: AppIdentity, ports: EmulatorState.Ports, caFile: String
    ) throws(EmulatorError) {
        let place = JSONMembers(present: ["version": 1, "baseURL": ports.baseURL, "httpsBaseURL": ports.httpsBaseURL])
        // Distinguishes this process from a later process with the same ID.
        let process = ProcessIdentity(of: getpid())
        let rest = JSONMembers(present: [
            "mqttPort": Int(ports.broker.tcp), "mqttTLSPort": Int(ports.broker.tls),
            "webSocketPort": Int(ports.broker.webSocket), "webSocketTLSPort": Int(ports.broker.webSocketTLS),
            "caFile": caFile,
            "pid": process.map { JSONValue($0.processID) }, "startTime": process.map { JSONValue($0.startTime) },
            "bootID": process?.boot,
        ])
        self.path = path
        self.bytes = JSONValue.object(place + app.json.pairs + rest).serialized(.lines)
        let directory = Directory.parent(of: path)
        try EmulatorError.ofFile(PrivateFile.makeDirectory(directory))
        var status = stat()
        // In `/tmp`, another user may have created the directory earlier.
        guard lstat(directory, &status) == 0, status.st_uid == geteuid() else {
            throw EmulatorError(.system(EACCES), "\(directory) does not belong to user \(geteuid())")
        }
        try EmulatorError.ofFile(OwnFile.replace(path, with: self.bytes))
    }

    func remove() {
        // A changed or unreadable file may belong to another emulator.
        guard let bytes = try? PrivateFile.read(self.path), bytes == self.bytes else { return }
        unlink(self.path)
    }
}
