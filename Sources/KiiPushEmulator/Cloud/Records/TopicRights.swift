import KiiPushCore

/// Who may do what with a topic, beside the administrator, who may do everything.
///
/// - Source: Kii's REST reference of a topic's ACL.
struct TopicRights: Sendable, Hashable {
    /// What may be done, in Kii's spelling.
    enum Verb: String, CaseIterable, Sendable {
        case subscribe = "SUBSCRIBE_TO_TOPIC"
        case send = "SEND_MESSAGE_TO_TOPIC"
    }

    /// Who may do it: a user, all members of a group, or a thing and its owners for it.
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

        /// How a path writes it, and the stored state: `UserID:{id}`.
        var text: String { "\(self.kind.rawValue)ID:\(self.id)" }

        /// How an answer writes it.
        var description: JSONValue { ["\(self.kind)ID": JSONValue(self.id)] }
    }

    private var holders: [Verb: Set<Holder>]

    /// What a topic comes with: in the app's scope everybody subscribes and the administrator sends; elsewhere those to
    /// whom the scope belongs do both, and of a group's topic also who made it.
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

    /// Returns `false` when `holder` has the right already.
    mutating func grant(_ verb: Verb, to holder: Holder) -> Bool {
        self.holders[verb, default: []].insert(holder).inserted
    }

    /// Returns `false` when `holder` does not have the right.
    mutating func revoke(_ verb: Verb, from holder: Holder) -> Bool { self.holders[verb]?.remove(holder) != nil }

    /// Returns `false` when `holder` had no right.
    mutating func revokeAll(from holder: Holder) -> Bool {
        let hasAny = self.holders.values.contains { $0.contains(holder) }
        for verb in Verb.allCases { self.holders[verb]?.remove(holder) }
        return hasAny
    }

    /// The body of `GET …/acl`.
    var description: JSONValue { self.json { $0.description } }

    /// How it is written in the stored state.
    var json: JSONValue { self.json { JSONValue($0.text) } }

    /// The body of `GET …/acl/{verb}`.
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
    /// Those to whom `scope` belongs; `nil` for the app's.
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
