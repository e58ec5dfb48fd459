import KiiPushCore

/// Who makes a request, as its credentials say.
enum Caller: Sendable, Hashable {
    /// The app itself, with its key: may register and log in.
    case anonymous
    case principal(Principal)
    /// The app's administrator: may do everything.
    case admin

    static func user(_ id: String) -> Caller { .principal(.user(id)) }
    static func thing(_ id: String) -> Caller { .principal(.thing(id)) }

    var userID: String? { if case .principal(.user(let id)) = self { id } else { nil } }
    var principal: Principal? { if case .principal(let principal) = self { principal } else { nil } }

    /// How it is written in the stored state.
    var text: String { self.principal?.text ?? (self == .admin ? "admin" : "anonymous") }

    init?(text: String) {
        switch text {
        case "admin": self = .admin
        case "anonymous": self = .anonymous
        default:
            guard let principal = Principal(text: text) else { return nil }
            self = .principal(principal)
        }
    }
}

extension Principal {
    /// `user` or `thing`.
    var kind: String { if case .user = self { "user" } else { "thing" } }

    /// How it is written in the stored state: `user:{id}`, `thing:{id}`.
    var text: String { "\(self.kind):\(self.id)" }

    init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "user" || parts[0] == "thing" else { return nil }
        self = parts[0] == "user" ? .user(String(parts[1])) : .thing(String(parts[1]))
    }

    /// How Kii's access rules and errors write it.
    var subject: String { self.kind == "user" ? "UserID:\(self.id)" : "ThingID:\(self.id)" }

    /// The member that an answer names it by.
    var field: (String, JSONValue) { ("\(self.kind)ID", JSONValue(self.id)) }
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

extension Topic { var path: String { SubscriptionTarget.topic(self).path } }

extension Bucket {
    /// The beginning of an encrypted bucket's name.
    static let encryptedPrefix = "CRYPTO:"

    var path: String { SubscriptionTarget.bucket(self).path }

    /// Kii's `bucketType`. That of an encrypted bucket is as Kii's client for Java names it.
    var type: String { self.id.hasPrefix(Bucket.encryptedPrefix) ? "crypto" : "rw" }
}

/// What a principal can subscribe to: a topic or a bucket.
struct SubscriptionTarget: Sendable, Hashable {
    enum Kind: String, CaseIterable, Sendable {
        case topic
        case bucket
    }

    var kind: Kind
    var scope: Scope
    var id: String

    static func topic(_ topic: Topic) -> SubscriptionTarget { .init(kind: .topic, scope: topic.scope, id: topic.id) }
    static func bucket(_ bucket: Bucket) -> SubscriptionTarget {
        .init(kind: .bucket, scope: bucket.scope, id: bucket.id)
    }

    var path: String { "\(self.scope.pathPrefix)\(self.kind.rawValue)s/\(self.id)" }

    /// The members of an answer that name it.
    func fields(app: String) -> JSONMembers {
        [("\(self.kind.rawValue)ID", JSONValue(self.id)), ("objectScope", self.scope.json(app: app))]
    }
}
