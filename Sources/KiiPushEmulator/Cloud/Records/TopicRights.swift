import KiiPushCore

/// The rights to a topic. The administrator may do everything, and needs no right.
///
/// - Source: Kii's REST reference of a topic's ACL.
struct TopicRights: Sendable, Hashable {
    enum Verb: String, CaseIterable, Sendable {
        case subscribe = "SUBSCRIBE_TO_TOPIC"
        case send = "SEND_MESSAGE_TO_TOPIC"
    }

    /// Everybody with the token of a user or thing.
    static let anyAuthenticatedUser = Scope.user("ANY_AUTHENTICATED_USER")

    private var holders: [Verb: Set<Scope>]

    /// The rights of a new topic. In the app's scope, every user and thing may subscribe, and only the administrator
    /// may send. In other scopes, the scope's owner may do both, as may the user who created a group's topic.
    init(of scope: Scope, creator: Caller) {
        guard scope != .app else {
            self.holders = [.subscribe: [TopicRights.anyAuthenticatedUser]]
            return
        }
        var owners: Set = [scope]
        if case .group = scope, let userID = creator.userID { owners.insert(.user(userID)) }
        self.holders = [.subscribe: owners, .send: owners]
    }

    func holders(of verb: Verb) -> Set<Scope> { self.holders[verb] ?? [] }

    mutating func grant(_ verb: Verb, to holder: Scope) -> Bool {
        self.holders[verb, default: []].insert(holder).inserted
    }

    mutating func revoke(_ verb: Verb, from holder: Scope) -> Bool { self.holders[verb]?.remove(holder) != nil }

    mutating func revokeAll(from holder: Scope) -> Bool {
        let hasAny = self.holders.values.contains { $0.contains(holder) }
        for verb in Verb.allCases { self.holders[verb]?.remove(holder) }
        return hasAny
    }

    /// As the REST API answers.
    var answer: JSONValue { self.json { .object($0.fields) } }

    /// As the state file has them, for `init(json:)`.
    var json: JSONValue { self.json { JSONValue($0.subject) } }

    func answer(for verb: Verb) -> JSONValue { self.list(of: verb) { .object($0.fields) } }

    private func json(_ write: (Scope) -> JSONValue) -> JSONValue {
        .object(Verb.allCases.map { ($0.rawValue, self.list(of: $0, write)) })
    }

    private func list(of verb: Verb, _ write: (Scope) -> JSONValue) -> JSONValue {
        JSONValue(self.holders(of: verb).sorted { $0.subject < $1.subject }.map(write))
    }

    init?(json: JSONValue) {
        self.holders = [:]
        for verb in Verb.allCases {
            guard let elements = json[verb.rawValue]?.array else { return nil }
            for element in elements {
                guard let holder = element.string.flatMap({ Scope(subject: $0) }) else { return nil }
                self.holders[verb, default: []].insert(holder)
            }
        }
    }
}
