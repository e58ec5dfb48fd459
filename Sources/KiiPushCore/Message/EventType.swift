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
