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

    /// Who may do it.
    enum Holder: Sendable, Hashable {
        case user(String)
        /// All members.
        case group(String)
        /// The thing, and its owners for it.
        case thing(String)
        /// Everybody with the token of a user or thing.
        case anyAuthenticatedUser

        static let anyAuthenticatedID = "ANY_AUTHENTICATED_USER"

        private var words: (kind: String, id: String) {
            switch self {
            case .user(let id): ("User", id)
            case .group(let id): ("Group", id)
            case .thing(let id): ("Thing", id)
            case .anyAuthenticatedUser: ("User", Holder.anyAuthenticatedID)
            }
        }

        /// How a path writes it, and the stored state: `UserID:{id}`.
        var text: String { "\(self.words.kind)ID:\(self.words.id)" }

        /// How an answer writes it.
        var description: JSONValue { ["\(self.words.kind.lowercased())ID": JSONValue(self.words.id)] }

        init?(text: String) {
            guard let colon = text.firstIndex(of: ":") else { return nil }
            let id = String(text[text.index(after: colon)...])
            switch (text[..<colon], id) {
            case (_, ""): return nil
            case ("UserID", Holder.anyAuthenticatedID): self = .anyAuthenticatedUser
            case ("UserID", _): self = .user(id)
            case ("GroupID", _): self = .group(id)
            case ("ThingID", _): self = .thing(id)
            default: return nil
            }
        }
    }

    private var holders: [Verb: Set<Holder>]

    /// What a topic comes with: in the app's scope everybody subscribes and the administrator sends; elsewhere those to
    /// whom the scope belongs do both.
    init(of scope: Scope) {
        switch scope {
        case .app: self.holders = [.subscribe: [.anyAuthenticatedUser]]
        case .user(let id): self.holders = [.subscribe: [.user(id)], .send: [.user(id)]]
        case .group(let id): self.holders = [.subscribe: [.group(id)], .send: [.group(id)]]
        case .thing(let id): self.holders = [.subscribe: [.thing(id)], .send: [.thing(id)]]
        }
    }

    func holders(of verb: Verb) -> Set<Holder> { self.holders[verb] ?? [] }

    /// Returns `false` when `holder` has the right already.
    mutating func grant(_ verb: Verb, to holder: Holder) -> Bool {
        self.holders[verb, default: []].insert(holder).inserted
    }

    /// Returns `false` when `holder` does not have the right.
    mutating func revoke(_ verb: Verb, from holder: Holder) -> Bool { self.holders[verb]?.remove(holder) != nil }

    /// The body of `GET …/acl`.
    var description: JSONValue { self.json { $0.description } }

    /// How it is written in the stored state.
    var json: JSONValue { self.json { JSONValue($0.text) } }

    private func json(_ write: (Holder) -> JSONValue) -> JSONValue {
        .object(
            Verb.allCases.map { verb in
                let sorted = self.holders(of: verb).sorted { $0.text < $1.text }
                return (verb.rawValue, JSONValue(sorted.map(write)))
            }
        )
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
