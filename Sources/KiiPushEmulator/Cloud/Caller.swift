import KiiPushCore

enum Caller: Sendable, Hashable {
    /// The app itself, without a user or thing. It may, for example, register users and log in.
    case anonymous
    case principal(Principal)
    case admin

    static func user(_ id: String) -> Caller { .principal(.user(id)) }
    static func thing(_ id: String) -> Caller { .principal(.thing(id)) }

    var userID: String? { if case .principal(.user(let id)) = self { id } else { nil } }
    var principal: Principal? { if case .principal(let principal) = self { principal } else { nil } }

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
    var kind: String { if case .user = self { "user" } else { "thing" } }

    var scope: Scope { if case .user(let id) = self { .user(id) } else { .thing(self.id) } }

    /// `user:{id}` or `thing:{id}`.
    var text: String { self.scope.text }

    init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "user" || parts[0] == "thing" else { return nil }
        self = parts[0] == "user" ? .user(String(parts[1])) : .thing(String(parts[1]))
    }
}

/// A scope also stands for its owner: the owner of a thing, or the holder of a right to a topic.
extension Scope {
    /// The kind and the ID of the owner; `nil` for the app.
    var parts: (kind: String, id: String)? {
        switch self {
        case .app: nil
        case .user(let id): ("user", id)
        case .group(let id): ("group", id)
        case .thing(let id): ("thing", id)
        }
    }

    /// The part of a path or `kiicloud:` URI before `topics/…` and `buckets/…`. Empty for the app.
    var pathPrefix: String { self.parts.map { "\($0.kind)s/\($0.id)/" } ?? "" }

    var typeName: String { self.parts.map { "APP_AND_\($0.kind.uppercased())" } ?? "APP" }

    /// `user:{id}`, `group:{id}` or `thing:{id}`; empty for the app.
    var text: String { self.parts.map { "\($0.kind):\($0.id)" } ?? "" }

    /// The form in a path and in the stored rights: `UserID:{id}`.
    var subject: String {
        self.parts.map { "\($0.kind.prefix(1).uppercased())\($0.kind.dropFirst())ID:\($0.id)" } ?? ""
    }

    init?(subject: String) {
        let words = subject.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, !words[1].isEmpty else { return nil }
        let id = String(words[1])
        switch words[0] {
        case "UserID": self = .user(id)
        case "GroupID": self = .group(id)
        case "ThingID": self = .thing(id)
        default: return nil
        }
    }

    var messageField: (String, JSONValue)? {
        self.parts.map { ("objectScope\(self.subject.prefix { $0 != ":" })", JSONValue($0.id)) }
    }

    /// The owner's ID; empty for the app.
    var fields: JSONMembers { self.parts.map { [("\($0.kind)ID", JSONValue($0.id))] } ?? [] }

    func json(app: String) -> JSONValue {
        .object([("appID", JSONValue(app))] + self.fields + [("type", JSONValue(self.typeName))])
    }

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
    static let encryptedPrefix = "CRYPTO:"

    var path: String { SubscriptionTarget.bucket(self).path }

    /// Kii's `bucketType`. The value `crypto` is from Kii's Java client.
    var type: String { self.id.hasPrefix(Bucket.encryptedPrefix) ? "crypto" : "rw" }
}

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

    func fields(app: String) -> JSONMembers {
        [("\(self.kind.rawValue)ID", JSONValue(self.id)), ("objectScope", self.scope.json(app: app))]
    }
}
