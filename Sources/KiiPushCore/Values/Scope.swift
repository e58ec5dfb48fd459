/// The owner of a topic or bucket: the app, a user, a group or a thing.
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

/// A Kii topic: a named channel with subscribers. A message to a topic is a push to user.
///
/// It is not the MQTT topic on which pushes arrive.
public struct Topic: Sendable, Hashable {
    /// The owner of the topic.
    public var scope: Scope
    /// The topic's name within its scope: 1 to 64 of `A-Z a-z 0-9 _ -`.
    public var id: String

    /// Names a topic. The call that uses the topic checks the name.
    public init(_ id: String, in scope: Scope = .app) { (self.scope, self.id) = (scope, id) }

    package static func isValidID(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count) && id.utf8.allSatisfy { $0.isLetterOrDigit(or: "_-") }
    }
}

/// A container of objects. Changes of the objects cause pushes (push to app).
public struct Bucket: Sendable, Hashable {
    /// The owner of the bucket.
    public var scope: Scope
    /// The bucket's name within its scope.
    public var id: String

    /// Names a bucket.
    public init(_ id: String, in scope: Scope = .app) { (self.scope, self.id) = (scope, id) }
}

/// An object in a bucket, by ID.
public struct ObjectReference: Sendable, Hashable {
    /// The bucket that holds the object.
    public var bucket: Bucket
    /// The object's ID within its bucket.
    public var id: String

    /// Names an object.
    public init(_ id: String, in bucket: Bucket) { (self.bucket, self.id) = (bucket, id) }
}

/// A user or a thing, which holds tokens, owns installations and subscribes.
public enum Principal: Sendable, Hashable {
    /// A user, by `userID`.
    case user(String)
    /// A thing, by `thingID` (`th.…`).
    case thing(String)

    /// The user's or thing's ID.
    public var id: String {
        switch self {
        case .user(let id), .thing(let id): id
        }
    }
}
