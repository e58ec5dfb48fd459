package import KiiPushCore

/// The file in which a running emulator publishes its address and credentials. With it, commands need no configuration.
package struct EmulatorRuntimeFile: Sendable {
    package let app: KiiApp
    package let admin: AdminCredentials
    package let caFile: String?
    /// The process that wrote the file; `nil` if the file cannot distinguish it from a later process with the same ID.
    package let process: ProcessIdentity?

    /// The running emulator; `nil` if none is running.
    ///
    /// A killed emulator leaves its file behind. A later process may get the emulator's process ID and port. So the
    /// process with this ID must belong to this user, and must have written the file itself.
    ///
    /// - Throws: ``FileError`` if another user owns the file or may read it: the user's requests could go to that
    ///   user's server. ``CommandFailure`` with exit 78 for wrong content.
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

    package init(_ file: ConfigurationDocument) throws(CommandFailure) {
        let clientID = try file.required("clientID").text()
        self.admin = AdminCredentials(
            clientID: clientID, clientSecret: Secret(try file.required("clientSecret").text()))
        var app = KiiApp(
            appID: try file.required("appID").text(), appKey: Secret(try file.required("appKey").text()),
            baseURL: try file.required("baseURL").text())
        // The administrator's ID is random and stored with the emulator's state, so it stays the same on another port.
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

package struct AdminCredentials: Sendable, Hashable {
    package var clientID: String
    package var clientSecret: Secret

    package init(clientID: String, clientSecret: Secret) {
        self.clientID = clientID
        self.clientSecret = clientSecret
    }
}
