import Glibc
package import KiiPushCore

/// `emulator.json`: where a running emulator is found, and the app's credentials.
package struct RuntimeFile: Sendable {
    package var baseURL: String
    /// `nil` where the emulator serves no HTTPS.
    package var httpsBaseURL: String?
    package var app: AppIdentity
    package var mqttPort: UInt16
    package var mqttTLSPort: UInt16
    package var caFile: String
    /// The emulator's process; `nil` where it is not said how to tell it from a later one of its ID.
    package var process: ProcessIdentity?

    /// Reads the file; `nil` when there is none.
    ///
    /// - Throws: ``EmulatorError`` for a file that cannot be read, is not ours, or can be read or written by others:
    ///   it names the server that secrets are sent to.
    package static func read(_ path: String) throws(EmulatorError) -> RuntimeFile? {
        guard let bytes = try EmulatorError.ofFile(PrivateFile.read(path)) else {
            return nil
        }
        guard let json = try? JSONValue(parsing: bytes), let file = RuntimeFile(json: json) else {
            throw EmulatorError(.stateUnusable, "\(path) is not an emulator's runtime file of version 1")
        }
        return file
    }

    /// Writes the file, mode 0600 in a directory of mode 0700 that is ours.
    func write(_ path: String) throws(EmulatorError) {
        let directory = Directory.parent(of: path)
        try EmulatorError.ofFile(PrivateFile.makeDirectory(directory))
        var status = stat()
        // In `/tmp` somebody else may have made the directory first.
        guard lstat(directory, &status) == 0, status.st_uid == geteuid() else {
            throw EmulatorError(.system(EACCES), "\(directory) does not belong to user \(geteuid())")
        }
        try EmulatorError.ofFile(OwnFile.replace(path, with: self.json.serialized(.lines)))
    }

    /// Removes the file if it tells of the emulator at `baseURL` in this process; another's stays.
    static func remove(_ path: String, of baseURL: String) {
        // What cannot be read is not known to be ours.
        guard let file = try? RuntimeFile.read(path), file.process?.processID == getpid(), file.baseURL == baseURL
        else { return }
        unlink(path)
    }

    package var json: JSONValue {
        let place = JSONMembers(present: ["version": 1, "baseURL": self.baseURL, "httpsBaseURL": self.httpsBaseURL])
        let rest = JSONMembers(present: [
            "mqttPort": Int(self.mqttPort), "mqttTLSPort": Int(self.mqttTLSPort), "caFile": self.caFile,
            "pid": self.process.map { JSONValue($0.processID) },
            "startTime": self.process.map { JSONValue($0.startTime) }, "bootID": self.process?.boot,
        ])
        return .object(place + self.app.json.pairs + rest)
    }
}

extension RuntimeFile {
    package init?(json: JSONValue) {
        guard json["version"]?.int64 == 1, let baseURL = json["baseURL"]?.string, let app = AppIdentity(json: json),
            let mqttPort: UInt16 = json.integer("mqttPort"), let mqttTLSPort: UInt16 = json.integer("mqttTLSPort"),
            let caFile = json["caFile"]?.string
        else { return nil }
        self.init(
            baseURL: baseURL, httpsBaseURL: json["httpsBaseURL"]?.string, app: app, mqttPort: mqttPort,
            mqttTLSPort: mqttTLSPort, caFile: caFile, process: RuntimeFile.process(json))
    }

    init(app: AppIdentity, ports: EmulatorState.Ports, caFile: String) {
        self.init(
            baseURL: ports.baseURL, httpsBaseURL: ports.httpsBaseURL, app: app, mqttPort: ports.broker.tcp,
            mqttTLSPort: ports.broker.tls, caFile: caFile, process: ProcessIdentity(of: getpid()))
    }

    private static func process(_ json: JSONValue) -> ProcessIdentity? {
        guard let processID: Int32 = json.integer("pid"), let startTime: UInt64 = json.integer("startTime"),
            let boot = json["bootID"]?.string
        else { return nil }
        return ProcessIdentity(processID: processID, startTime: startTime, boot: boot)
    }
}
