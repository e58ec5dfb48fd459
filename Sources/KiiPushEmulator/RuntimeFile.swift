import Glibc
package import KiiPushCore

/// `emulator.json`: where a running emulator is found, and the app's credentials.
package struct RuntimeFile: Sendable {
    package var baseURL: String
    /// `nil` where the emulator serves no HTTPS.
    package var httpsBaseURL: String?
    package var appID: String
    package var appKey: Secret
    package var clientID: String
    package var clientSecret: Secret
    package var mqttPort: UInt16
    package var mqttTLSPort: UInt16
    package var caFile: String
    /// The emulator's process; `nil` where it is not said how to tell it from a later one of its ID.
    package var process: ProcessIdentity?

    /// Where the file is unless told otherwise: below `$XDG_RUNTIME_DIR`, else in a directory of the user's own in
    /// `/tmp`.
    package static func standardPath(runtimeDirectory: String?, userID: UInt32) -> String {
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/") else {
            return "/tmp/kii-push-\(userID)/emulator.json"
        }
        return "\(runtimeDirectory)/kii-push/emulator.json"
    }

    /// Reads the file; `nil` when there is none.
    ///
    /// - Throws: ``EmulatorError`` for a file that cannot be read, is not ours, or can be read or written by others:
    ///   it names the server that secrets are sent to.
    package static func read(_ path: String) throws(EmulatorError) -> RuntimeFile? {
        let content: [UInt8]?
        do throws(FileError) {
            content = try PrivateFile.read(path)
        } catch {
            throw EmulatorError(error)
        }
        guard let bytes = content else { return nil }
        guard let json = try? JSONValue(parsing: bytes), let file = RuntimeFile(json: json) else {
            throw EmulatorError(.stateUnusable, "\(path) is not an emulator's runtime file of version 1")
        }
        return file
    }

    /// Writes the file, mode 0600 in a directory of mode 0700 that is ours.
    func write(_ path: String) throws(EmulatorError) {
        let directory = Files.parent(of: path)
        if access(directory, F_OK) != 0 { try Files.makePrivateDirectory(directory) }
        var status = stat()
        // In `/tmp` somebody else may have made the directory first.
        guard lstat(directory, &status) == 0, status.st_uid == geteuid() else {
            throw EmulatorError(.system(EACCES), "\(directory) does not belong to user \(geteuid())")
        }
        try Files.replace(path, with: self.json.serialized(pretty: true))
    }

    /// Removes the file if it tells of the emulator at `baseURL` in this process; another's stays.
    static func remove(_ path: String, of baseURL: String) {
        // What cannot be read is not known to be ours.
        guard let file = try? RuntimeFile.read(path), file.process?.processID == getpid(), file.baseURL == baseURL
        else { return }
        Files.remove(path)
    }

    package var json: JSONValue {
        .compact([
            ("version", 1), ("baseURL", JSONValue(self.baseURL)), ("httpsBaseURL", .optional(self.httpsBaseURL)),
            ("appID", JSONValue(self.appID)),
            ("appKey", JSONValue(self.appKey.reveal())), ("clientID", JSONValue(self.clientID)),
            ("clientSecret", JSONValue(self.clientSecret.reveal())), ("mqttPort", JSONValue(self.mqttPort)),
            ("mqttTLSPort", JSONValue(self.mqttTLSPort)), ("caFile", JSONValue(self.caFile)),
            ("pid", self.process.map { JSONValue($0.processID) } ?? .null),
            ("startTime", self.process.map { JSONValue($0.startTime) } ?? .null),
            ("bootID", .optional(self.process?.boot)),
        ])
    }

    package init?(json: JSONValue) {
        guard json["version"]?.int64 == 1, let baseURL = json["baseURL"]?.string, let appID = json["appID"]?.string,
            let appKey = json["appKey"]?.string, let clientID = json["clientID"]?.string,
            let clientSecret = json["clientSecret"]?.string,
            let mqttPort = json["mqttPort"]?.int64.flatMap({ UInt16(exactly: $0) }),
            let mqttTLSPort = json["mqttTLSPort"]?.int64.flatMap({ UInt16(exactly: $0) }),
            let caFile = json["caFile"]?.string
        else { return nil }
        self.baseURL = baseURL
        self.httpsBaseURL = json["httpsBaseURL"]?.string
        self.appID = appID
        self.appKey = Secret(appKey)
        self.clientID = clientID
        self.clientSecret = Secret(clientSecret)
        self.mqttPort = mqttPort
        self.mqttTLSPort = mqttTLSPort
        self.caFile = caFile
        self.process = RuntimeFile.process(json)
    }

    init(app: AppIdentity, ports: EmulatorState.Ports, caFile: String) {
        self.baseURL = ports.baseURL
        self.httpsBaseURL = ports.httpsBaseURL
        self.appID = app.appID
        self.appKey = app.appKey
        self.clientID = app.clientID
        self.clientSecret = app.clientSecret
        self.mqttPort = ports.broker.tcp
        self.mqttTLSPort = ports.broker.tls
        self.caFile = caFile
        self.process = ProcessIdentity(of: getpid())
    }

    private static func process(_ json: JSONValue) -> ProcessIdentity? {
        guard let processID = json["pid"]?.int64.flatMap({ Int32(exactly: $0) }),
            let startTime = json["startTime"]?.int64.flatMap({ UInt64(exactly: $0) }),
            let boot = json["bootID"]?.string
        else { return nil }
        return ProcessIdentity(processID: processID, startTime: startTime, boot: boot)
    }
}
