package import KiiPushCore

package struct AppIdentity: Sendable {
    package var appID: String
    package var appKey: Secret
    package var clientID: String
    package var clientSecret: Secret
}

extension AppIdentity {
    /// A new app with random key and secrets. Its ID is always the same, so that configurations can contain it.
    package init(identifiers: inout Identifiers) {
        self.init(
            appID: "kiilocal", appKey: Secret(identifiers.hex(32)), clientID: identifiers.hex(32),
            clientSecret: Secret(identifiers.hex(64)))
    }

    init?(json: JSONValue) {
        guard let appID = json["appID"]?.string, let appKey = json.secret("appKey"),
            let clientID = json["clientID"]?.string, let clientSecret = json.secret("clientSecret")
        else { return nil }
        self.init(appID: appID, appKey: appKey, clientID: clientID, clientSecret: clientSecret)
    }

    var json: JSONValue {
        .object(present: [
            "appID": self.appID, "appKey": self.appKey.reveal(), "clientID": self.clientID,
            "clientSecret": self.clientSecret.reveal(),
        ])
    }
}
