import KiiPushCore

/// The rights to a topic. The administrator may do everything, and needs no right.
///
/// - Source: Kii's REST reference of a topic's ACL.
struct TopicRights: Sendable, Hashable {
    enum Verb: String, CaseIterable, Sendable {
        case subscribe = "SUBSCRIBE_TO_TOPIC"
        case send = "SEND_MESSAGE_TO_TOPIC"
    }

    struct Holder: Sendable, Hashable {
        enum Kind: String, Sendable {
            case user = "User"
            case group = "Group"
            case thing = "Thing"
        }

        /// Everybody with the token of a user or thing.
        static let anyAuthenticatedUser = Holder(kind: .user, id: "ANY_AUTHENTICATED_USER")

        var kind: Kind
        var id: String

        /// The form in a path and in the stored state: `UserID:{id}`.
        var text: String { "\(self.kind.rawValue)ID:\(self.id)" }

        var description: JSONValue { ["\(self.kind)ID": JSONValue(self.id)] }
    }

    private var holders: [Verb: Set<Holder>]

    /// The rights of a new topic. In the app's scope, every user and thing may subscribe, and only the administrator
    /// may send. In other scopes, the scope's owner may do both, as may the user who created a group's topic.
    init(of scope: Scope, creator: Caller) {
        guard let owner = Holder(of: scope) else {
            self.holders = [.subscribe: [.anyAuthenticatedUser]]
            return
        }
        var owners: Set = [owner]
        if case .group = scope, let userID = creator.userID { owners.insert(Holder(kind: .user, id: userID)) }
        self.holders = [.subscribe: owners, .send: owners]
    }

    func holders(of verb: Verb) -> Set<Holder> { self.holders[verb] ?? [] }

    mutating func grant(_ verb: Verb, to holder: Holder) -> Bool {
        self.holders[verb, default: []].insert(holder).inserted
    }

    mutating func revoke(_ verb: Verb, from holder: Holder) -> Bool { self.holders[verb]?.remove(holder) != nil }

    mutating func revokeAll(from holder: Holder) -> Bool {
        let hasAny = self.holders.values.contains { $0.contains(holder) }
        for verb in Verb.allCases { self.holders[verb]?.remove(holder) }
        return hasAny
    }

    var description: JSONValue { self.json { $0.description } }

    var json: JSONValue { self.json { JSONValue($0.text) } }

    func description(of verb: Verb) -> JSONValue { self.list(of: verb) { $0.description } }

    private func json(_ write: (Holder) -> JSONValue) -> JSONValue {
        .object(Verb.allCases.map { ($0.rawValue, self.list(of: $0, write)) })
    }

    private func list(of verb: Verb, _ write: (Holder) -> JSONValue) -> JSONValue {
        JSONValue(self.holders(of: verb).sorted { $0.text < $1.text }.map(write))
    }

    init?(json: JSONValue) {
        self.holders = [:]
        for verb in Verb.allCases {
            guard let elements = json[verb.rawValue]?.array else { return nil }
            for element in elements {
                guard let holder = element.string.flatMap({ Holder(text: $0) }) else { return nil }
                self.holders[verb, default: []].insert(holder)
            }
        }
    }
}

extension TopicRights.Holder {
    init?(of scope: Scope) {
        switch scope {
        case .app: return nil
        case .user(let id): self.init(kind: .user, id: id)
        case .group(let id): self.init(kind: .group, id: id)
        case .thing(let id): self.init(kind: .thing, id: id)
        }
    }

    init?(text: String) {
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, !words[1].isEmpty, words[0].hasSuffix("ID"),
            let kind = Kind(rawValue: String(words[0].dropLast(2)))
        else { return nil }
        self.init(kind: kind, id: String(words[1]))
    }
}
