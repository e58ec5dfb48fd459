package import KiiPushCore

/// What a running emulator says about itself, so that nothing about the cloud needs to be configured.
package struct EmulatorRuntimeFile: Sendable {
    package let app: KiiApp
    let admin: AdminCredentials
    package let caFile: String?
    /// The process that wrote the file; `nil` when the file does not tell it from a later one of the same ID.
    package let process: ProcessIdentity?

    /// The emulator that runs now; `nil` when none does.
    ///
    /// A file that is left behind by an emulator that was killed names a process ID that may be anybody's by now, and a
    /// port on which anybody may listen. So the process has to be the one that wrote the file, and this user's.
    ///
    /// - Throws: ``FileError`` when the file belongs to somebody else or is open to others: its server would be given
    ///   what the user sends. ``CommandFailure`` with exit 78 when it is no such file.
    static func find(at path: String) throws -> EmulatorRuntimeFile? {
        guard let file = try VersionedFile(privateAt: path) else { return nil }
        let emulator = try EmulatorRuntimeFile(file)
        guard let process = emulator.process, process.isRunning, process.isOwn else { return nil }
        return emulator
    }

    /// - Throws: ``CommandFailure`` with exit 78 when it is no such file.
    package init(_ file: VersionedFile) throws {
        guard let baseURL = try file.text("baseURL"), let appID = try file.text("appID"),
            let appKey = try file.text("appKey"), let clientID = try file.text("clientID"),
            let clientSecret = try file.text("clientSecret")
        else {
            throw CommandFailure(.configuration, "\(file.path) does not tell all about the emulator", hint: "remove it")
        }
        var app = KiiApp(appID: appID, appKey: Secret(appKey), baseURL: baseURL)
        // Random, and kept with the emulator's state: it is the same emulator on whatever port.
        app.issuer = "emulator \(clientID)"
        self.app = app
        self.admin = AdminCredentials(clientID: clientID, clientSecret: Secret(clientSecret))
        self.caFile = try file.text("caFile")
        guard let processID = file.root["pid"]?.int64.flatMap({ Int32(exactly: $0) }),
            let startTime = file.root["startTime"]?.int64.flatMap({ UInt64(exactly: $0) }),
            let boot = try file.text("bootID")
        else {
            self.process = nil
            return
        }
        self.process = ProcessIdentity(processID: processID, startTime: startTime, boot: boot)
    }
}

/// What signs in as the administrator of an app, where the cloud demands one.
struct AdminCredentials: Sendable, Hashable {
    var clientID: String
    var clientSecret: Secret
}
