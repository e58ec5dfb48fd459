import KiiPushCore

/// Who makes a request, as its credentials say.
enum Caller: Sendable, Hashable {
    /// The app itself, with its key: may register and log in.
    case anonymous
    case user(String)
    case thing(String)
    /// The app's administrator: may do everything.
    case admin

    init(_ principal: Principal) {
        switch principal {
        case .user(let id): self = .user(id)
        case .thing(let id): self = .thing(id)
        }
    }

    var principal: Principal? {
        switch self {
        case .user(let id): .user(id)
        case .thing(let id): .thing(id)
        case .anonymous, .admin: nil
        }
    }

    /// How it is written in the stored state.
    var text: String { self.principal?.text ?? (self == .admin ? "admin" : "anonymous") }

    init?(text: String) {
        switch text {
        case "admin": self = .admin
        case "anonymous": self = .anonymous
        default:
            guard let principal = Principal(text: text) else { return nil }
            self = Caller(principal)
        }
    }
}

extension Principal {
    private var isUser: Bool { if case .user = self { true } else { false } }

    /// How it is written in the stored state: `user:{id}`, `thing:{id}`.
    var text: String { "\(self.isUser ? "user" : "thing"):\(self.id)" }

    init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.dropFirst().first) {
        case ("user", let id?): self = .user(String(id))
        case ("thing", let id?): self = .thing(String(id))
        default: return nil
        }
    }

    /// How Kii's access rules and errors write it.
    var subject: String { "\(self.isUser ? "UserID" : "ThingID"):\(self.id)" }

    /// The member that an answer names it by.
    var field: (String, JSONValue) { (self.isUser ? "userID" : "thingID", JSONValue(self.id)) }
}

extension Scope {
    private var owner: (kind: String, id: String)? {
        switch self {
        case .app: nil
        case .user(let id): ("user", id)
        case .group(let id): ("group", id)
        case .thing(let id): ("thing", id)
        }
    }

    /// What precedes `topics/…` and `buckets/…` in a path or a `kiicloud:` URI, and how it is stored; empty for the app.
    var pathPrefix: String { self.owner.map { "\($0.kind)s/\($0.id)/" } ?? "" }

    /// Kii's `objectScopeType`.
    var typeName: String { self.owner.map { "APP_AND_\($0.kind.uppercased())" } ?? "APP" }

    /// The member of a message that carries the owner's ID; `nil` for the app.
    var messageField: (String, JSONValue)? {
        self.owner.map { ("objectScope\($0.kind.prefix(1).uppercased())\($0.kind.dropFirst())ID", JSONValue($0.id)) }
    }

    /// `objectScope` of an error body.
    func json(app: String) -> JSONValue {
        let owner = self.owner.map { [("\($0.kind)ID", JSONValue($0.id))] } ?? []
        return .object([("appID", JSONValue(app))] + owner + [("type", JSONValue(self.typeName))])
    }

    /// Reads ``pathPrefix``; its last slash may be left away.
    init?(prefix: String) {
        let parts = prefix.split(separator: "/", maxSplits: 1)
        guard let kind = parts.first else {
            self = .app
            return
        }
        guard parts.count == 2 else { return nil }
        let id = String(parts[1].hasSuffix("/") ? parts[1].dropLast() : parts[1])
        switch kind {
        case "users": self = .user(id)
        case "groups": self = .group(id)
        case "things": self = .thing(id)
        default: return nil
        }
    }
}

extension Topic {
    var path: String { "\(self.scope.pathPrefix)topics/\(self.id)" }
}

extension Bucket {
    var path: String { "\(self.scope.pathPrefix)buckets/\(self.id)" }
}

/// What a principal can subscribe to.
enum SubscriptionTarget: Sendable, Hashable {
    case topic(Topic)
    case bucket(Bucket)

    var scope: Scope {
        switch self {
        case .topic(let topic): topic.scope
        case .bucket(let bucket): bucket.scope
        }
    }

    var path: String {
        switch self {
        case .topic(let topic): topic.path
        case .bucket(let bucket): bucket.path
        }
    }

    /// Its kind and ID, as the stored state writes them.
    var name: (kind: String, id: String) {
        switch self {
        case .topic(let topic): ("topic", topic.id)
        case .bucket(let bucket): ("bucket", bucket.id)
        }
    }

    /// The members of an answer that name it.
    func fields(app: String) -> [(String, JSONValue)] {
        [("\(self.name.kind)ID", JSONValue(self.name.id)), ("objectScope", self.scope.json(app: app))]
    }
}
