package import KiiPushCommandLine
package import KiiPushCore

/// A profile's registered account and its cloud: `profile.json`, without secrets. The agent's own state holds the
/// registration.
package struct SavedProfile: Sendable, Hashable {
    enum Cloud: Sendable, Hashable {
        /// An emulator. Each command looks up its address. `clientID` is the ID of its administrator: a random part of
        /// the emulator's state, so it identifies the emulator.
        case emulator(appID: String, clientID: String)
        case kii(baseURL: String, appID: String, Terms)
    }

    struct Terms: Sendable, Hashable {
        var allowsPlainHTTP: Bool
        var caFile: String?
        var clientCertificateFile: String?
        var clientKeyFile: String?
    }

    enum Account: Sendable, Hashable {
        case pseudoUser
        case user(name: String)
        case thing(vendorThingID: String, type: String?)
    }

    var cloud: Cloud
    var account: Account

    var appID: String {
        switch self.cloud {
        case .emulator(let appID, _), .kii(_, let appID, _): appID
        }
    }

    static func read(directory: String) throws -> SavedProfile? {
        let path = self.path(directory)
        do {
            return try ConfigurationDocument.read(trustedAt: path).map { try SavedProfile($0) }
        } catch var failure as CommandFailure {
            // A malformed file can be removed, because `register` writes it again. A file of a newer version must stay.
            let isNewer = failure.hint?.contains(bytesOf: "newer") ?? false
            if !isNewer { failure.hint = "remove it and run 'kii-push register'" }
            throw failure
        }
    }

    func write(directory: String) throws { try ConfigurationDocument.write(self.members, to: Self.path(directory)) }

    package var members: [(String, JSONValue)] {
        let cloud: JSONValue =
            switch self.cloud {
            case .emulator(let appID, let clientID):
                ["kind": "emulator", "appID": JSONValue(appID), "clientID": JSONValue(clientID)]
            case .kii(let baseURL, let appID, let terms):
                JSONValue.object(present: [
                    "kind": "kii", "baseURL": baseURL, "appID": appID,
                    "allowPlainHTTP": terms.allowsPlainHTTP ? true : nil, "caFile": terms.caFile,
                    "clientCertificateFile": terms.clientCertificateFile, "clientKeyFile": terms.clientKeyFile,
                ])
            }
        return [("cloud", cloud), ("account", self.account.json)]
    }

    static func path(_ directory: String) -> String { directory + "/profile.json" }

    fileprivate static func cloud(_ file: ConfigurationDocument) throws -> Cloud? {
        guard let appID = try file["cloud"]?["appID"]?.text() else { return nil }
        switch try file["cloud"]?["kind"]?.text() {
        case "emulator": return (try file["cloud"]?["clientID"]?.text()).map { .emulator(appID: appID, clientID: $0) }
        case "kii":
            let terms = Terms(
                allowsPlainHTTP: file.value["cloud"]?["allowPlainHTTP"]?.bool ?? false,
                caFile: try file["cloud"]?["caFile"]?.text(),
                clientCertificateFile: try file["cloud"]?["clientCertificateFile"]?.text(),
                clientKeyFile: try file["cloud"]?["clientKeyFile"]?.text())
            return (try file["cloud"]?["baseURL"]?.text()).map { .kii(baseURL: $0, appID: appID, terms) }
        default: return nil
        }
    }

    fileprivate static func account(_ file: ConfigurationDocument) throws -> Account? {
        switch try file["account"]?["kind"]?.text() {
        case "pseudoUser": return .pseudoUser
        case "user": return (try file["account"]?["name"]?.text()).map { .user(name: $0) }
        case "thing":
            let type = try file["account"]?["type"]?.text()
            return (try file["account"]?["vendorThingID"]?.text()).map { .thing(vendorThingID: $0, type: type) }
        default: return nil
        }
    }
}

extension SavedProfile {
    package init(_ file: ConfigurationDocument) throws {
        guard let cloud = try Self.cloud(file), let account = try Self.account(file) else {
            throw CommandFailure(.configuration, "\(file.document) is incomplete")
        }
        self.init(cloud: cloud, account: account)
    }
}

extension SavedProfile.Account {
    var json: JSONValue {
        switch self {
        case .pseudoUser: ["kind": "pseudoUser"]
        case .user(let name): ["kind": "user", "name": JSONValue(name)]
        case .thing(let vendorThingID, let type):
            JSONValue.object(present: ["kind": "thing", "vendorThingID": vendorThingID, "type": type])
        }
    }

    /// Whether both sign in as the same principal. The type of a thing does not matter.
    func isSameIdentity(as other: Self) -> Bool {
        switch (self, other) {
        case (.thing(let ours, _), .thing(let theirs, _)): ours == theirs
        default: self == other
        }
    }

    func completed(from other: Self) -> Self {
        guard case .thing(let vendorThingID, nil) = self, case .thing(vendorThingID, let type) = other else {
            return self
        }
        return .thing(vendorThingID: vendorThingID, type: type)
    }

    var text: String {
        switch self {
        case .pseudoUser: "a user of its own, without name and password"
        case .user(let name): "user '\(name)'"
        case .thing(let vendorThingID, _): "thing '\(vendorThingID)'"
        }
    }
}

extension Principal {
    var json: JSONValue { ["kind": self.kind.json, "id": self.id.json] }
}
