/// The place of a topic or bucket: the whole app, or one user, group or thing.
///
/// - Source: Kii's `objectScopeType` and the paths below `/apps/{appID}`.
public enum Scope: Sendable, Hashable {
    /// `APP`: `/topics/…`, `/buckets/…`.
    case app
    /// `APP_AND_USER`: `/users/{userID}/…`.
    case user(String)
    /// `APP_AND_GROUP`: `/groups/{groupID}/…`.
    case group(String)
    /// `APP_AND_THING`: `/things/{thingID}/…`.
    case thing(String)
}

/// A named channel with subscribers; a message to it is a push to user.
///
/// This is a Kii topic, not the MQTT topic on which pushes arrive.
public struct Topic: Sendable, Hashable {
    /// Where the topic lives.
    public var scope: Scope
    /// The topic's name within its scope: 1 to 64 of `A-Z a-z 0-9 _ -`.
    public var id: String

    /// Names a topic. The call that uses the topic checks the name.
    public init(_ id: String, in scope: Scope = .app) { (self.scope, self.id) = (scope, id) }

    /// Whether `id` is a name that Kii accepts for a topic: `^[A-Za-z0-9_-]{1,64}$`.
    package static func isValidID(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count) && id.utf8.allSatisfy { $0.isLetterOrDigit(or: "_-") }
    }
}

/// A container of objects whose changes cause pushes (push to app).
public struct Bucket: Sendable, Hashable {
    /// Where the bucket lives.
    public var scope: Scope
    /// The bucket's name within its scope.
    public var id: String

    /// Names a bucket.
    public init(_ id: String, in scope: Scope = .app) { (self.scope, self.id) = (scope, id) }
}

/// An object in a bucket, by name.
public struct ObjectReference: Sendable, Hashable {
    /// The bucket that holds the object.
    public var bucket: Bucket
    /// The object's ID within its bucket.
    public var id: String

    /// Names an object.
    public init(_ id: String, in bucket: Bucket) { (self.bucket, self.id) = (bucket, id) }
}

/// A user or a thing: it holds tokens, owns installations and subscribes.
public enum Principal: Sendable, Hashable {
    /// A user, by `userID`.
    case user(String)
    /// A thing, by `thingID` (`th.…`).
    case thing(String)

    /// The ID without its kind.
    public var id: String {
        switch self {
        case .user(let id), .thing(let id): id
        }
    }
}
