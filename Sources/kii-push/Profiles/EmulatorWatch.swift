import KiiPushCommandLine
import KiiPushCore

struct EmulatorWatch: Sendable {
    private let path: String
    private let baseURL: String
    /// The ID of the emulator's administrator. It is part of the emulator's state, so it identifies the emulator.
    private let clientID: String

    init?(_ cloud: CloudSettings, _ paths: FilePaths) {
        guard cloud.source == .emulator, let admin = cloud.admin else { return nil }
        self.path = paths.emulator
        self.baseURL = cloud.app.baseURL
        self.clientID = admin.clientID
    }

    /// Waits until a restarted emulator has another address. Reads `emulator.json` every half second, but only while
    /// there is no connection. Returns `false` if the task is cancelled first.
    func moved(isOffline: @Sendable () -> Bool) async -> Bool {
        while true {
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return false }
            // Ignores an unreadable file, which may be half written. The agent reports why it is offline.
            guard isOffline(), let file = try? EmulatorRuntimeFile.find(at: self.path) else { continue }
            if file.admin.clientID == self.clientID, file.app.baseURL != self.baseURL { return true }
        }
    }
}
