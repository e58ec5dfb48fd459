/// A right on a topic. The raw values are the server's words.
///
/// - Source: Kii's reference, ACL of a topic
public enum TopicVerb: String, Sendable, Hashable {
    /// Subscribing, and receiving the topic's messages.
    case subscribe = "SUBSCRIBE_TO_TOPIC"
    /// Sending messages.
    case send = "SEND_MESSAGE_TO_TOPIC"
}

/// The subject of an access right.
///
/// - Source: Kii's guide on a topic's ACL, its table of subjects
public enum AccessSubject: Sendable, Hashable, CustomStringConvertible {
    /// One user, by `userID`.
    case user(String)
    /// All members of a group, by `groupID`.
    case group(String)
    /// One thing, by `thingID`.
    case thing(String)
    /// Everybody with a token of a user or a thing.
    case anyAuthenticatedUser
    /// Everybody with the app. Kii's guide lists this subject, but Kii's reference excludes it for topics:
    /// ``KiiSession/grant(_:on:to:acceptsExisting:)`` refuses it.
    case anonymousUser

    private static let anyAuthenticatedID = "ANY_AUTHENTICATED_USER"
    private static let anonymousID = "ANONYMOUS_USER"

    /// The subject as a path contains it, such as `UserID:ANY_AUTHENTICATED_USER`.
    public var description: String {
        switch self {
        case .user(let id): "UserID:\(id)"
        case .group(let id): "GroupID:\(id)"
        case .thing(let id): "ThingID:\(id)"
        case .anyAuthenticatedUser: "UserID:\(Self.anyAuthenticatedID)"
        case .anonymousUser: "UserID:\(Self.anonymousID)"
        }
    }

    static func user(named id: String) -> AccessSubject {
        switch id {
        case Self.anyAuthenticatedID: .anyAuthenticatedUser
        case Self.anonymousID: .anonymousUser
        default: .user(id)
        }
    }

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

    /// ``KiiPath`` cannot detect an empty ID after a prefix such as `UserID:`.
    func validate() throws(KiiInputError) {
        switch self {
        case .user(let id): try KiiInputError.require(id, .userID)
        case .group(let id): try KiiInputError.require(id, .groupID)
        case .thing(let id): try KiiInputError.require(id, .thingID)
        case .anyAuthenticatedUser, .anonymousUser: return
        }
    }
}
