import Glibc
import KiiPushCore

/// What a running emulator says about itself, so that nothing about the cloud needs to be configured.
struct EmulatorRuntimeFile: Sendable {
    let app: KiiApp
    let admin: AdminCredentials
    let caFile: String?
    let processID: Int32

    /// The emulator that runs now; `nil` when none does.
    ///
    /// - Throws: ``FileError`` when the file belongs to somebody else or is open to others: its server would be given
    ///   what the user sends. ``CommandFailure`` with exit 78 when it is no such file.
    static func find(at path: String) throws -> EmulatorRuntimeFile? {
        guard let file = try VersionedFile(privateAt: path) else { return nil }
        guard let baseURL = try file.text("baseURL"), let appID = try file.text("appID"),
            let appKey = try file.text("appKey"), let clientID = try file.text("clientID"),
            let clientSecret = try file.text("clientSecret"), let processID = file.root["pid"]?.int64
        else {
            throw CommandFailure(.configuration, "\(path) does not tell all about the emulator", hint: "remove it")
        }
        guard let processID = Int32(exactly: processID), processID > 0, Self.isRunning(processID) else { return nil }
        return EmulatorRuntimeFile(
            app: KiiApp(appID: appID, appKey: Secret(appKey), baseURL: baseURL),
            admin: AdminCredentials(clientID: clientID, clientSecret: Secret(clientSecret)),
            caFile: try file.text("caFile"),
            processID: processID
        )
    }

    /// Signal 0 asks only: refused means that somebody is there.
    private static func isRunning(_ processID: Int32) -> Bool {
        kill(processID, 0) == 0 || errno == EPERM
    }
}

/// What signs in as the administrator of an app, where the cloud demands one.
struct AdminCredentials: Sendable, Hashable {
    var clientID: String
    var clientSecret: Secret
}
