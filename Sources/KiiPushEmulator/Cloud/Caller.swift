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
    /// How it is written in the stored state: `user:{id}`, `thing:{id}`.
    var text: String {
        switch self {
        case .user(let id): "user:\(id)"
        case .thing(let id): "thing:\(id)"
        }
    }

    init?(text: String) {
        if text.hasPrefix("user:") {
            self = .user(String(text.dropFirst(5)))
        } else if text.hasPrefix("thing:") {
            self = .thing(String(text.dropFirst(6)))
        } else {
            return nil
        }
    }

    /// How Kii's access rules and errors write it.
    var subject: String {
        switch self {
        case .user(let id): "UserID:\(id)"
        case .thing(let id): "ThingID:\(id)"
        }
    }
}

extension Scope {
    /// What precedes `topics/…` and `buckets/…` in a path or a `kiicloud:` URI; empty for the app.
    var pathPrefix: String {
        switch self {
        case .app: ""
        case .user(let id): "users/\(id)/"
        case .group(let id): "groups/\(id)/"
        case .thing(let id): "things/\(id)/"
        }
    }

    /// Kii's `objectScopeType`.
    var typeName: String {
        switch self {
        case .app: "APP"
        case .user: "APP_AND_USER"
        case .group: "APP_AND_GROUP"
        case .thing: "APP_AND_THING"
        }
    }

    /// The member that carries the owner's ID, after `prefix` in Kii's spelling; `nil` for the app.
    func ownerField(prefix: String) -> (String, JSONValue)? {
        switch self {
        case .app: nil
        case .user(let id): (prefix.isEmpty ? "userID" : "\(prefix)UserID", JSONValue(id))
        case .group(let id): (prefix.isEmpty ? "groupID" : "\(prefix)GroupID", JSONValue(id))
        case .thing(let id): (prefix.isEmpty ? "thingID" : "\(prefix)ThingID", JSONValue(id))
        }
    }

    /// `objectScope` of an error body.
    func json(app: String) -> JSONValue {
        var members: [(String, JSONValue)] = [("appID", JSONValue(app))]
        if let owner = self.ownerField(prefix: "") { members.append(owner) }
        members.append(("type", JSONValue(self.typeName)))
        return .object(members)
    }

    /// How it is written in the stored state: the path prefix without its last slash.
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

    /// The member of an error body that names it.
    var name: (String, JSONValue) {
        switch self {
        case .topic(let topic): ("topicID", JSONValue(topic.id))
        case .bucket(let bucket): ("bucketID", JSONValue(bucket.id))
        }
    }
}
