package import KiiPushCommandLine
package import KiiPushCore

/// A profile's registered account and its cloud: `profile.json`, without secrets. The agent's own state holds the
/// registration.
package struct SavedProfile: Sendable, Hashable {
    enum Cloud: Sendable, Hashable {
        /// An emulator. Each command looks up its address. `clientID` is the ID of its administrator: a random part of
        /// the emulator's state, so it identifies the emulator.
        case emulator(appID: String, clientID: String)
        /// `terms`: the values of ``SavedProfile/terms``.
        case kii(baseURL: String, appID: String, terms: [CloudSetting: String])
    }

    enum Account: Sendable, Hashable {
        case pseudoUser
        case user(name: String)
        case thing(vendorThingID: String, type: String?)
    }

    /// The settings that belong to an address: options of `register`, which later commands use.
    static let terms: [CloudSetting] = [.allowPlainHTTP, .caFile, .clientCertificateFile, .clientKeyFile]

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

    package var members: [(String, JSONValue)] { [("cloud", self.cloud.json), ("account", self.account.json)] }

    static func path(_ directory: String) -> String { directory + "/profile.json" }
}

extension SavedProfile {
    package init(_ file: ConfigurationDocument) throws {
        self.init(cloud: try Cloud(file.required("cloud")), account: try Account(file.required("account")))
    }
}

extension SavedProfile.Cloud {
    fileprivate init(_ cloud: ConfigurationDocument) throws {
        let appID = try cloud.required("appID").text()
        switch try cloud.required("kind").word(of: ["emulator", "kii"]) {
        case "emulator": self = .emulator(appID: appID, clientID: try cloud.required("clientID").text())
        default:
            var terms: [CloudSetting: String] = [:]
            for setting in SavedProfile.terms {
                terms[setting] = try cloud.present(setting.rawValue).map(setting.text(of:))
            }
            self = .kii(baseURL: try cloud.required("baseURL").text(), appID: appID, terms: terms)
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .emulator(let appID, let clientID):
            return ["kind": "emulator", "appID": JSONValue(appID), "clientID": JSONValue(clientID)]
        case .kii(let baseURL, let appID, let terms):
            let head: [(String, JSONValue)] = [
                ("kind", "kii"), ("baseURL", JSONValue(baseURL)), ("appID", JSONValue(appID)),
            ]
            let kept = SavedProfile.terms.compactMap { setting in
                terms[setting].map { (setting.rawValue, setting.json($0)) }
            }
            return .object(head + kept)
        }
    }
}

extension SavedProfile.Account {
    fileprivate init(_ account: ConfigurationDocument) throws {
        switch try account.required("kind").word(of: ["pseudoUser", "user", "thing"]) {
        case "pseudoUser": self = .pseudoUser
        case "user": self = .user(name: try account.required("name").text())
        default:
            self = .thing(
                vendorThingID: try account.required("vendorThingID").text(),
                type: try account.present("type")?.text())
        }
    }

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
