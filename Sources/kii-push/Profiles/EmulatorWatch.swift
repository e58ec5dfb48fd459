import KiiPushCommandLine
import KiiPushCore

/// Notices that a profile's emulator was restarted on other ports.
struct EmulatorWatch: Sendable {
    private let path: String
    private let baseURL: String
    /// The admin's ID is part of the emulator's state, so it identifies the emulator.
    private let clientID: String

    /// `nil` for other clouds.
    init?(_ cloud: CloudSettings, _ paths: FilePaths) {
        guard cloud.source == .emulator, let admin = cloud.admin else { return nil }
        self.path = paths.emulator
        self.baseURL = cloud.app.baseURL
        self.clientID = admin.clientID
    }

    /// Reads `emulator.json` every half second while there is no connection, until it names another address; `false`
    /// when the task is cancelled first.
    func moved(isOffline: @Sendable () -> Bool) async -> Bool {
        while true {
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return false }
            // An unreadable file may be half replaced, or another user's: the agent reports why it is offline.
            guard isOffline(), let file = try? EmulatorRuntimeFile.find(at: self.path) else { continue }
            if file.admin.clientID == self.clientID, file.app.baseURL != self.baseURL { return true }
        }
    }
}
