import KiiPushCommandLine
import KiiPushCore

/// A profile of this state directory that may receive sent messages.
struct ReceivingProfile: Sendable {
    let name: String
    let directory: String
    let installationID: String

    /// All registered profiles; throws ``FileError`` when the state of one cannot be read.
    static func all(in profiles: String) throws -> [ReceivingProfile] {
        try (Directory.names(in: profiles) ?? []).filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
            let directory = profiles + "/" + name
            return try PushAgent.registration(in: directory).map { registration in
                ReceivingProfile(name: name, directory: directory, installationID: registration.installationID)
            }
        }
    }
}
