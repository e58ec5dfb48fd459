extension PushAgent.Configuration {
    /// Reads an agent's configuration from JSON, for programs in other languages.
    package init(json: String) throws(JSONMemberError) {
        try self.init(JSONDocument(strict: Array(json.utf8)))
    }

    package init(_ settings: JSONDocument) throws(JSONMemberError) {
        try settings.object([
            "app", "account", "name", "subscriptions", "usesTLS", "transport", "isDevelopment", "installationMembers",
            "keepAlive",
        ])
        let account = try KiiAccount(settings)
        self.init(app: try KiiApp(settings), account: account)
        if let name = try settings.nonEmptyText("name") {
            guard AgentStateFile.isValidName(name) else {
                throw settings.failure(
                    "must be 1 to 64 of letters, digits, -, _ and ., not beginning with .", at: "name")
            }
            self.name = name
        }
        if let list = try settings.present("subscriptions")?.elements() {
            self.subscriptions = try list.map { target throws(JSONMemberError) in
                try SubscriptionTarget(target.object(["topic", "bucket", "scope"]), of: account)
            }
        }
        if let usesTLS = try settings.present("usesTLS")?.flag() { self.usesTLS = usesTLS }
        if let word = try settings.present("transport")?.word(of: PushAgent.Transport.allCases.map(\.rawValue)) {
            self.transport = PushAgent.Transport(rawValue: word) ?? .automatic
        }
        if let isDevelopment = try settings.present("isDevelopment")?.flag() { self.isDevelopment = isDevelopment }
        // ``PushAgent/run()`` checks the members.
        self.installationMembers = try settings.present("installationMembers")?.object().value
        if let keepAlive = try settings.present("keepAlive")?.seconds() {
            guard keepAlive <= .seconds(18 * 3600) else {
                throw settings.failure("is longer than 18 h", at: "keepAlive")
            }
            self.keepAlive = keepAlive
        }
    }
}

extension KiiApp {
    fileprivate init(_ settings: JSONDocument) throws(JSONMemberError) {
        let app = try settings.required("app").object(["id", "key", "baseURL", "thingIFBaseURL", "allowsPlainHTTP"])
        self.init(
            appID: try app.required("id").nonEmptyText(), appKey: Secret(try app.required("key").nonEmptyText()),
            baseURL: try app.required("baseURL").nonEmptyText(),
            thingIFBaseURL: try app.nonEmptyText("thingIFBaseURL"),
            allowsPlainHTTP: try app.present("allowsPlainHTTP")?.flag() ?? false)
        do {
            _ = try self.checkedBaseURL(of: .api)
        } catch {
            let key =
                switch error.field {
                case .appID: "id"
                case .appKey: "key"
                default: "baseURL"
                }
            throw app.failure("must be \(error.rule)", at: key)
        }
    }
}

extension KiiAccount {
    fileprivate init(_ settings: JSONDocument) throws(JSONMemberError) {
        let (user, thing) = (["name", "password", "createsIfMissing"], ["vendorThingID", "password", "thingType"])
        let account = try settings.required("account").object(["type"] + user + thing)
        switch try account.required("type").word(of: ["pseudoUser", "user", "thing"]) {
        case "user":
            try account.object(["type"] + user)
            self = .user(
                name: try account.required("name").nonEmptyText(),
                password: Secret(try account.required("password").nonEmptyText()),
                createsIfMissing: try account.present("createsIfMissing")?.flag() ?? false)
        case "thing":
            try account.object(["type"] + thing)
            self = .thing(
                vendorThingID: try account.required("vendorThingID").nonEmptyText(),
                password: Secret(try account.required("password").nonEmptyText()),
                type: try account.nonEmptyText("thingType"))
        default:
            try account.object(["type"])
            self = .pseudoUser
        }
    }

    /// The scope of the account's own topics and buckets.
    package var own: Scope {
        switch self {
        case .pseudoUser, .user: .user("me")
        case .thing(let vendorThingID, _, _): .thing("VENDOR_THING_ID:\(vendorThingID)")
        }
    }
}

extension SubscriptionTarget {
    fileprivate init(_ settings: JSONDocument, of account: KiiAccount) throws(JSONMemberError) {
        var scope = Scope.app
        if let text = try settings.nonEmptyText("scope") {
            guard let named = Scope(text, of: account) else {
                throw settings.failure("must be app, me, user:ID, group:ID or thing:ID", at: "scope")
            }
            scope = named
        }
        switch (try settings.nonEmptyText("topic"), try settings.nonEmptyText("bucket")) {
        case (let topic?, nil):
            guard Topic.isValidID(topic) else {
                throw settings.failure("must be 1 to 64 of letters, digits, _ and -", at: "topic")
            }
            self = .topic(Topic(topic, in: scope))
        case (nil, let bucket?): self = .bucket(Bucket(bucket, in: scope))
        default: throw settings.failure("must have either a topic or a bucket")
        }
    }
}

extension Scope {
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
