/// The event or message type: the payload's field `type`.
///
/// A push to app has one of Kii's events; other pushes have the sender's own type.
public enum EventType: Sendable, Hashable {
    /// `DATA_OBJECT_CREATED`.
    case objectCreated
    /// `DATA_OBJECT_UPDATED`.
    case objectUpdated
    /// `DATA_OBJECT_DELETED`.
    case objectDeleted
    /// `DATA_OBJECT_BODY_UPDATED`.
    case objectBodyUpdated
    /// `DATA_OBJECT_BODY_DELETED`.
    case objectBodyDeleted
    /// `DATA_OBJECT_ACL_MODIFIED`.
    case objectACLModified
    /// `BUCKET_DELETED`.
    case bucketDeleted
    /// Any other text, verbatim.
    case other(String)

    private static let known: [EventType] = [
        .objectCreated, .objectUpdated, .objectDeleted, .objectBodyUpdated, .objectBodyDeleted, .objectACLModified,
        .bucketDeleted,
    ]

    package init(_ name: String) { self = Self.known.first { $0.name == name } ?? .other(name) }

    private var name: String {
        switch self {
        case .objectCreated: "DATA_OBJECT_CREATED"
        case .objectUpdated: "DATA_OBJECT_UPDATED"
        case .objectDeleted: "DATA_OBJECT_DELETED"
        case .objectBodyUpdated: "DATA_OBJECT_BODY_UPDATED"
        case .objectBodyDeleted: "DATA_OBJECT_BODY_DELETED"
        case .objectACLModified: "DATA_OBJECT_ACL_MODIFIED"
        case .bucketDeleted: "BUCKET_DELETED"
        case .other(let name): name
        }
    }

    /// Whether both texts are equal, scalar by scalar.
    public static func == (left: Self, right: Self) -> Bool { left.name.utf8.elementsEqual(right.name.utf8) }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(self.name)) }
}

/// The cause of the push: the field `origin`.
public enum MessageOrigin: Sendable, Hashable {
    /// `EVENT`: a bucket changed (push to app).
    case event
    /// `EXPLICIT`: somebody sent the push (push to user, direct push).
    case explicit
    /// Any other text, verbatim.
    case other(String)

    package init(_ name: String) {
        switch name {
        case "EVENT": self = .event
        case "EXPLICIT": self = .explicit
        default: self = .other(name)
        }
    }
}

/// The value of the field `bucketType`. `rw` and `sync` match in any letter case, since Kii's SDKs differ.
package enum BucketType: Sendable, Hashable {
    case readWrite
    case sync
    case other(String)

    package init(_ name: String) {
        switch name.lowercased() {
        case "rw": self = .readWrite
        case "sync": self = .sync
        default: self = .other(name)
        }
    }
}

/// The value of the field `objectScopeType`.
package enum ScopeType: Sendable, Hashable {
    case app
    case user
    case group
    case thing
    case other(String)

    package init(_ name: String) {
        switch name {
        case "APP": self = .app
        case "APP_AND_USER": self = .user
        case "APP_AND_GROUP": self = .group
        case "APP_AND_THING": self = .thing
        default: self = .other(name)
        }
    }
}
