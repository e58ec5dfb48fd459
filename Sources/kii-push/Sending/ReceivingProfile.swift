import KiiPushCommandLine
import KiiPushCore

struct ReceivingProfile: Sendable {
    let name: String
    let directory: String
    let installationID: String

    static func all(in profiles: String) throws -> [ReceivingProfile] {
        try (Directory.names(in: profiles) ?? []).filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
            let directory = profiles + "/" + name
            return try PushAgent.registration(in: directory).map { registration in
                ReceivingProfile(name: name, directory: directory, installationID: registration.installationID)
            }
        }
    }
}
