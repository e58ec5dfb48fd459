import KiiPushCore

/// What `register` found out about a profile and later commands need: `profile.json`, without secrets.
struct SavedProfile: Sendable, Hashable {
    /// Which cloud the profile was registered with.
    enum Cloud: Sendable, Hashable {
        /// The emulator that had this app; where it listens is looked up each time.
        case emulator(appID: String)
        case kii(baseURL: String, appID: String)
    }

    /// How the profile signs in.
    enum Account: Sendable, Hashable {
        case pseudoUser
        case user(name: String)
        case thing(vendorThingID: String, type: String?)
    }

    var cloud: Cloud
    var account: Account
    var principal: Principal
    var installationID: String

    var appID: String {
        switch self.cloud {
        case .emulator(let appID), .kii(_, let appID): appID
        }
    }

    /// Reads the profile in `directory`; `nil` when it was never registered.
    static func read(directory: String) throws -> SavedProfile? {
        let path = self.path(directory)
        guard let file = try VersionedFile(openAt: path) else { return nil }
        guard let cloud = try self.cloud(file), let account = try self.account(file),
            let principal = try self.principal(file), let installationID = try file.text("installationID")
        else {
            throw CommandFailure(
                .configuration,
                "\(path) is incomplete",
                hint: "remove it and run 'kii-push register'"
            )
        }
        return SavedProfile(cloud: cloud, account: account, principal: principal, installationID: installationID)
    }

    /// Writes the profile into `directory`, which exists.
    func write(directory: String) throws {
        let cloud: JSONValue =
            switch self.cloud {
            case .emulator(let appID): ["kind": "emulator", "appID": JSONValue(appID)]
            case .kii(let baseURL, let appID):
                ["kind": "kii", "baseURL": JSONValue(baseURL), "appID": JSONValue(appID)]
            }
        let members: [(String, JSONValue)] = [
            ("cloud", cloud), ("account", self.account.json), ("principal", self.principal.json),
            ("installationID", JSONValue(self.installationID)),
        ]
        try VersionedFile.write(members, to: Self.path(directory))
    }

    private static func path(_ directory: String) -> String { directory + "/profile.json" }

    private static func cloud(_ file: VersionedFile) throws -> Cloud? {
        guard let appID = try file.text("cloud", "appID") else { return nil }
        switch try file.text("cloud", "kind") {
        case "emulator": return .emulator(appID: appID)
        case "kii": return try file.text("cloud", "baseURL").map { .kii(baseURL: $0, appID: appID) }
        default: return nil
        }
    }

    private static func account(_ file: VersionedFile) throws -> Account? {
        switch try file.text("account", "kind") {
        case "pseudoUser": return .pseudoUser
        case "user": return try file.text("account", "name").map { .user(name: $0) }
        case "thing":
            let type = try file.text("account", "type")
            return try file.text("account", "vendorThingID").map { .thing(vendorThingID: $0, type: type) }
        default: return nil
        }
    }

    private static func principal(_ file: VersionedFile) throws -> Principal? {
        guard let id = try file.text("principal", "id") else { return nil }
        switch try file.text("principal", "kind") {
        case "user": return .user(id)
        case "thing": return .thing(id)
        default: return nil
        }
    }
}

extension SavedProfile.Account {
    var json: JSONValue {
        switch self {
        case .pseudoUser: ["kind": "pseudoUser"]
        case .user(let name): ["kind": "user", "name": JSONValue(name)]
        case .thing(let vendorThingID, nil): ["kind": "thing", "vendorThingID": JSONValue(vendorThingID)]
        case .thing(let vendorThingID, let type?):
            ["kind": "thing", "vendorThingID": JSONValue(vendorThingID), "type": JSONValue(type)]
        }
    }

    /// For people.
    var text: String {
        switch self {
        case .pseudoUser: "a user of its own, without name and password"
        case .user(let name): "user '\(name)'"
        case .thing(let vendorThingID, _): "thing '\(vendorThingID)'"
        }
    }
}

extension Principal {
    var json: JSONValue {
        switch self {
        case .user(let id): ["kind": "user", "id": JSONValue(id)]
        case .thing(let id): ["kind": "thing", "id": JSONValue(id)]
        }
    }
}
