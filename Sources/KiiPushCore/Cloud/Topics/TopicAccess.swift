/// What a principal may be allowed to do with a topic. A verb that has no constant here is kept as it is.
///
/// - Source: Kii's reference, ACL of a topic
public struct TopicVerb: Sendable, Hashable, CustomStringConvertible {
    /// The verb as the server spells it.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Subscribe itself, and receive what is sent.
    public static let subscribe = Self(rawValue: "SUBSCRIBE_TO_TOPIC")
    /// Send messages.
    public static let send = Self(rawValue: "SEND_MESSAGE_TO_TOPIC")

    /// As the server spells it.
    public var description: String { self.rawValue }
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

/// All that is allowed on one topic; what is not in it is refused.
public struct TopicAccess: Sendable, Hashable {
    /// Who may do what. A verb that nobody may use can be absent or empty.
    package var subjects: [TopicVerb: Set<AccessSubject>]

    /// Lists what is allowed.
    package init(_ subjects: [TopicVerb: Set<AccessSubject>] = [:]) { self.subjects = subjects }

    /// Who may use `verb`. Members of a group count through the group alone.
    public subscript(verb: TopicVerb) -> Set<AccessSubject> { self.subjects[verb] ?? [] }
}
