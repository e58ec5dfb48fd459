package import KiiPushCore

/// What a running emulator says about itself, so that nothing about the cloud needs to be configured.
package struct EmulatorRuntimeFile: Sendable {
    package let app: KiiApp
    package let admin: AdminCredentials
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
    package static func find(at path: String) throws -> EmulatorRuntimeFile? {
        guard let file = try ConfigurationDocument.read(privateAt: path) else { return nil }
        do throws(CommandFailure) {
            let emulator = try EmulatorRuntimeFile(file)
            guard let process = emulator.process, process.isRunning, process.isOwn else { return nil }
            return emulator
        } catch {
            var failure = error
            failure.hint = "remove it"
            throw failure
        }
    }

    /// - Throws: ``CommandFailure`` with exit 78 when it is no such file.
    package init(_ file: ConfigurationDocument) throws(CommandFailure) {
        let clientID = try file.required("clientID").text()
        self.admin = AdminCredentials(
            clientID: clientID, clientSecret: Secret(try file.required("clientSecret").text()))
        var app = KiiApp(
            appID: try file.required("appID").text(), appKey: Secret(try file.required("appKey").text()),
            baseURL: try file.required("baseURL").text())
        // Random, and kept with the emulator's state: it is the same emulator on whatever port.
        app.issuer = "emulator \(clientID)"
        self.app = app
        self.caFile = try file["caFile"]?.text()
        guard let processID = file["pid"], let startTime = file["startTime"], let boot = file["bootID"] else {
            self.process = nil
            return
        }
        self.process = ProcessIdentity(
            processID: try processID.integer(), startTime: try startTime.integer(), boot: try boot.text())
    }
}

/// What signs in as the administrator of an app, where the cloud demands one.
package struct AdminCredentials: Sendable, Hashable {
    package var clientID: String
    package var clientSecret: Secret

    package init(clientID: String, clientSecret: Secret) {
        self.clientID = clientID
        self.clientSecret = clientSecret
    }
}
