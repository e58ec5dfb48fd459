extension PushAgent.Configuration {
    /// The value contains secrets.
    package var json: JSONValue {
        .object(present: [
            "name": self.name, "app": self.app.declaration,
            "account": self.account.declaration,
            "subscriptions": JSONValue(self.subscriptions.map(\.declaration)),
            "usesTLS": self.usesTLS ? nil : false,
            "transport": self.transport == .automatic ? nil : self.transport.rawValue,
            "isDevelopment": self.isDevelopment ? true : nil,
            "installationMembers": self.installationMembers,
            "keepAlive": JSONValue(max(0, self.keepAlive / .seconds(1))),
        ])
    }
}

extension KiiApp {
    fileprivate var declaration: JSONValue {
        .object(present: [
            "id": self.appID, "key": self.appKey.reveal(), "baseURL": self.baseURL,
            "thingIFBaseURL": self.thingIFBaseURL, "allowsPlainHTTP": self.allowsPlainHTTP ? true : nil,
        ])
    }
}

extension KiiAccount {
    fileprivate var declaration: JSONValue {
        switch self {
        case .pseudoUser: .object(present: ["type": "pseudoUser"])
        case .user(let name, let password, let createsIfMissing):
            .object(present: [
                "type": "user", "name": name, "password": password.reveal(),
                "createsIfMissing": createsIfMissing ? true : nil,
            ])
        case .thing(let vendorThingID, let password, let type):
            .object(present: [
                "type": "thing", "vendorThingID": vendorThingID, "password": password.reveal(), "thingType": type,
            ])
        }
    }
}

extension SubscriptionTarget {
    fileprivate var declaration: JSONValue {
        switch self {
        case .topic(let topic): .object(present: ["topic": topic.id, "scope": topic.scope.declaration])
        case .bucket(let bucket): .object(present: ["bucket": bucket.id, "scope": bucket.scope.declaration])
        }
    }
}

extension Scope {
    fileprivate var declaration: String? { self == .app ? nil : self.text }
}
