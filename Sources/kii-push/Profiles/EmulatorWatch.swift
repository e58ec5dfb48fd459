import KiiPushCommandLine
import KiiPushCore

/// Notices that the emulator of a profile listens elsewhere than it did: it was restarted on other ports.
struct EmulatorWatch: Sendable {
    private let path: String
    private let baseURL: String
    /// The admin's ID is kept with the emulator's state, so it tells one emulator from another.
    private let clientID: String

    /// `nil` for a cloud that is no emulator.
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
            // Cannot be read while it is being replaced, or is another's: the agent tells why it has no connection.
            guard isOffline(), let file = try? EmulatorRuntimeFile.find(at: self.path) else { continue }
            if file.admin.clientID == self.clientID, file.app.baseURL != self.baseURL { return true }
        }
    }
}
