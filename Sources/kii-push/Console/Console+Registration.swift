import KiiPushCommandLine
import KiiPushCore

extension Console {
    func show(_ registration: Registration, of saved: SavedProfile, profile: Profile) throws {
        let cloud =
            switch saved.cloud {
            case .emulator: "emulator"
            case .kii(let baseURL, _, _): baseURL
            }
        try self.result("profile       \(profile.name)")
        try self.result("cloud         \(cloud.terminalSafe), app \(saved.appID.terminalSafe)")
        try self.result("\(registration.principal.kind.padded(to: 14))\(registration.principal.id.terminalSafe)")
        try self.result("account       \(saved.account.text.terminalSafe)")
        try self.result("installation  \(registration.installationID.terminalSafe)")
        if let payload = registration.payload { try self.result("payloads      \(payload.rawValue)") }
        try self.result("state         \(profile.directory.terminalSafe)")
        try self.object(
            "registration",
            [
                "profile": profile.name, "cloud": cloud, "appID": saved.appID, "principal": registration.principal.json,
                "account": saved.account.json, "installationID": registration.installationID,
                "payload": (registration.payload ?? .mqtt).rawValue, "state": profile.directory,
            ])
    }
}

extension Principal {
    var kind: String {
        switch self {
        case .user: "user"
        case .thing: "thing"
        }
    }

    /// The user's or thing's own scope.
    var scope: Scope {
        switch self {
        case .user(let id): .user(id)
        case .thing(let id): .thing(id)
        }
    }
}
