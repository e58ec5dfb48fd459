extension PushAgent.Configuration {
    /// Reads the declaration of an agent, as other languages and fleets write it.
    package init(json: String) throws(SettingsError) {
        let settings = try Settings(
            parsing: json,
            members: [
                "app", "account", "name", "subscriptions", "usesTLS", "isDevelopment", "installationMembers",
                "keepAlive",
            ])
        let account = try KiiAccount(settings)
        self.init(app: try KiiApp(settings), account: account)
        if let name = try settings.text("name") {
            guard AgentStateFile.isValidName(name) else {
                throw settings.failure(
                    "has to be 1 to 64 of letters, digits, -, _ and ., not beginning with .", at: "name")
            }
            self.name = name
        }
        self.subscriptions = try settings.objects("subscriptions", members: ["topic", "bucket", "scope"])
            .map { target throws(SettingsError) in try SubscriptionTarget(target, of: account) }
        if let usesTLS = try settings.flag("usesTLS") { self.usesTLS = usesTLS }
        if let isDevelopment = try settings.flag("isDevelopment") { self.isDevelopment = isDevelopment }
        self.installationMembers = try settings.object("installationMembers")
        if let keepAlive = try settings.seconds("keepAlive") {
            guard keepAlive <= .seconds(18 * 3600) else {
                throw settings.failure("is longer than 18 h", at: "keepAlive")
            }
            self.keepAlive = keepAlive
        }
    }
}

extension KiiApp {
    fileprivate init(_ settings: Settings) throws(SettingsError) {
        let app = try settings.object("app", members: ["id", "key", "baseURL", "thingIFBaseURL", "allowsPlainHTTP"])
        self.init(
            appID: try app.requiredText("id"), appKey: Secret(try app.requiredText("key")),
            baseURL: try app.requiredText("baseURL"), thingIFBaseURL: try app.text("thingIFBaseURL"),
            allowsPlainHTTP: try app.flag("allowsPlainHTTP") ?? false)
        do {
            _ = try self.checkedBaseURL(of: .api)
        } catch {
            let key =
                switch error.field {
                case .appID: "id"
                case .appKey: "key"
                default: "baseURL"
                }
            throw app.failure("has to be \(error.rule)", at: key)
        }
    }
}

extension KiiAccount {
    fileprivate init(_ settings: Settings) throws(SettingsError) {
        let (user, thing) = (["name", "password", "createsIfMissing"], ["vendorThingID", "password", "thingType"])
        let any = try settings.object("account", members: ["type"] + user + thing)
        switch try any.word("type", of: ["pseudoUser", "user", "thing"]) {
        case "pseudoUser":
            _ = try settings.object("account", members: ["type"])
            self = .pseudoUser
        case "user":
            let account = try settings.object("account", members: ["type"] + user)
            self = .user(
                name: try account.requiredText("name"), password: Secret(try account.requiredText("password")),
                createsIfMissing: try account.flag("createsIfMissing") ?? false)
        case "thing":
            let account = try settings.object("account", members: ["type"] + thing)
            self = .thing(
                vendorThingID: try account.requiredText("vendorThingID"),
                password: Secret(try account.requiredText("password")), type: try account.text("thingType"))
        default: throw any.failure("is missing", at: "type")
        }
    }

    /// Where what belongs to the account itself lives.
    package var own: Scope {
        switch self {
        case .pseudoUser, .user: .user("me")
        case .thing(let vendorThingID, _, _): .thing("VENDOR_THING_ID:\(vendorThingID)")
        }
    }
}

extension SubscriptionTarget {
    fileprivate init(_ settings: Settings, of account: KiiAccount) throws(SettingsError) {
        var scope = Scope.app
        if let text = try settings.text("scope") {
            guard let named = Scope(text, of: account) else {
                throw settings.failure("has to be app, me, user:ID, group:ID or thing:ID", at: "scope")
            }
            scope = named
        }
        switch (try settings.text("topic"), try settings.text("bucket")) {
        case (let topic?, nil):
            guard Topic.isValidID(topic) else {
                throw settings.failure("has to be 1 to 64 of letters, digits, _ and -", at: "topic")
            }
            self = .topic(Topic(topic, in: scope))
        case (nil, let bucket?): self = .bucket(Bucket(bucket, in: scope))
        default: throw settings.failure("has to have either a topic or a bucket")
        }
    }
}

extension Scope {
    /// A scope as it is written; `me` is that of the account.
    package init?(_ text: String, of account: KiiAccount) {
        let parts = text.split(separator: ":", maxSplits: 1)
        switch (parts.first, parts.dropFirst().first.map(String.init)) {
        case ("app", nil): self = .app
        case ("me", nil): self = account.own
        case ("user", let id?): self = .user(id)
        case ("group", let id?): self = .group(id)
        case ("thing", let id?): self = .thing(id)
        default: return nil
        }
    }
}
