package import KiiPushCore

/// The one app that an emulator serves.
package struct AppIdentity: Sendable {
    /// The same everywhere, so that it can be written into configurations; what guards the app is random.
    static let wellKnownID = "kiilocal"

    package var appID: String
    package var appKey: Secret
    package var clientID: String
    package var clientSecret: Secret

    /// A new app, with names in the shapes of Kii's.
    package init(identifiers: inout Identifiers) {
        self.appID = AppIdentity.wellKnownID
        self.appKey = Secret(identifiers.hex(32))
        self.clientID = identifiers.hex(32)
        self.clientSecret = Secret(identifiers.hex(64))
    }

    /// An app read back from the stored state.
    init?(json: JSONValue) {
        guard let appID = json["appID"]?.string, let appKey = json.secret("appKey"),
            let clientID = json["clientID"]?.string, let clientSecret = json.secret("clientSecret")
        else { return nil }
        (self.appID, self.appKey) = (appID, appKey)
        (self.clientID, self.clientSecret) = (clientID, clientSecret)
    }

    var json: JSONValue {
        .object([
            ("appID", JSONValue(self.appID)), ("appKey", JSONValue(self.appKey.reveal())),
            ("clientID", JSONValue(self.clientID)), ("clientSecret", JSONValue(self.clientSecret.reveal())),
        ])
    }
}
