/// A right on a topic.
///
/// - Source: Kii's reference, ACL of a topic; the raw values are the server's words
public enum TopicVerb: String, Sendable, Hashable {
    /// Subscribe itself, and receive what is sent.
    case subscribe = "SUBSCRIBE_TO_TOPIC"
    /// Send messages.
    case send = "SEND_MESSAGE_TO_TOPIC"
}

/// Who is allowed to do something.
///
/// - Source: Kii's guide on a topic's ACL, its table of subjects
public enum AccessSubject: Sendable, Hashable, CustomStringConvertible {
    /// One user, by `userID`.
    case user(String)
    /// All members of a group, by `groupID`.
    case group(String)
    /// One thing, by `thingID`.
    case thing(String)
    /// Everybody who has a token of a user or a thing.
    case anyAuthenticatedUser
    /// Everybody who has the app. The guide lists it; the reference says that it cannot be used for topics, and it is
    /// not granted anything here.
    case anonymousUser

    private static let anyAuthenticatedID = "ANY_AUTHENTICATED_USER"
    private static let anonymousID = "ANONYMOUS_USER"

    /// As it stands in a path, such as `UserID:ANY_AUTHENTICATED_USER`.
    public var description: String {
        switch self {
        case .user(let id): "UserID:\(id)"
        case .group(let id): "GroupID:\(id)"
        case .thing(let id): "ThingID:\(id)"
        case .anyAuthenticatedUser: "UserID:\(Self.anyAuthenticatedID)"
        case .anonymousUser: "UserID:\(Self.anonymousID)"
        }
    }

    /// A user by ID, or one of the two that stand for many.
    static func user(named id: String) -> AccessSubject {
        switch id {
        case Self.anyAuthenticatedID: .anyAuthenticatedUser
        case Self.anonymousID: .anonymousUser
        default: .user(id)
        }
    }

    /// Reads the form of a path; `nil` for any other text.
    init?(path: String) {
        guard let colon = path.firstIndex(of: ":") else { return nil }
        let id = String(path[path.index(after: colon)...])
        guard !id.isEmpty else { return nil }
        switch path[..<colon] {
        case "UserID": self = .user(named: id)
        case "GroupID": self = .group(id)
        case "ThingID": self = .thing(id)
        default: return nil
        }
    }

    /// Refuses an empty ID, which the path of an entry would hide behind its `UserID:`.
    func validate() throws(KiiInputError) {
        switch self {
        case .user(let id): try KiiInputError.refuseEmpty(id, .userID)
        case .group(let id): try KiiInputError.refuseEmpty(id, .groupID)
        case .thing(let id): try KiiInputError.refuseEmpty(id, .thingID)
        case .anyAuthenticatedUser, .anonymousUser: return
        }
    }
}
