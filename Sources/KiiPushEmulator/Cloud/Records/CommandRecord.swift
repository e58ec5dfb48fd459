import KiiPushCore

struct CommandRecord: StoredRecord {
    static let table = "command"

    /// Kii does not document when the cloud sets each state.
    enum State: String, Sendable {
        /// The thing was not known to be connected when the command was sent.
        case sending = "SENDING"
        case delivered = "DELIVERED"
        /// Some of the command's actions have no result yet.
        case incomplete = "INCOMPLETE"
        case done = "DONE"
        case sendFailed = "SEND_FAILED"
    }

    var id: String
    var thingID: String
    /// The number of earlier commands of the thing.
    var number: Int
    var request: JSONValue
    var state: State
    var results: JSONValue?
    var createdAt: Timestamp
    var modifiedAt: Timestamp

    var key: String { self.id }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "thing": self.thingID, "number": self.number, "request": self.request,
            "state": self.state.rawValue, "results": self.results, "createdAt": self.createdAt.json,
            "modifiedAt": self.modifiedAt.json,
        ])
    }

    /// The payload for the thing. Kii's C sample recognizes a command by its first bytes, `{"commandID"`.
    var payload: JSONMembers {
        let parts = ["schema", "schemaVersion", "actions", "issuer"].compactMap { name in
            self.request[name].map { (name, $0) }
        }
        return [("commandID", JSONValue(self.id))] + parts
    }

    var description: JSONMembers {
        JSONMembers(present: [
            "commandID": self.id, "commandState": self.state.rawValue, "target": "thing:\(self.thingID)",
        ]) + self.request.pairs
            + JSONMembers(present: [
                "actionResults": self.results, "createdAt": self.createdAt.json, "modifiedAt": self.modifiedAt.json,
            ])
    }
}

extension CommandRecord {
    init?(json: JSONValue) {
        guard let id = json["id"]?.string, let thingID = json["thing"]?.string,
            let number: Int = json.integer("number"), let request = json["request"],
            let state = json["state"]?.string.flatMap({ State(rawValue: $0) }),
            let createdAt = json.time("createdAt"), let modifiedAt = json.time("modifiedAt")
        else { return nil }
        self.init(
            id: id, thingID: thingID, number: number, request: request, state: state, results: json["results"],
            createdAt: createdAt, modifiedAt: modifiedAt)
    }

    /// Returns `nil` for an invalid list. With `byAlias`, the actions are one level deeper, below their trait's alias.
    static func actionNames(in list: JSONValue?, byAlias: Bool) -> [String]? {
        guard let members = list?.membersOfElements else { return nil }
        guard byAlias else { return members.map { $0.0 } }
        var names: [String] = []
        for (_, actions) in members {
            guard let ofAlias = actions.membersOfElements else { return nil }
            names += ofAlias.map { $0.0 }
        }
        return names
    }

    /// Matches results with actions by name. The alias of a result is optional, since Kii's C sample leaves it out.
    ///
    /// - Returns: `false`, with nothing changed, if `list` is missing, empty or invalid.
    mutating func take(results list: JSONValue?, now: Timestamp) -> Bool {
        guard let members = list?.membersOfElements else { return false }
        let results = members.flatMap { name, result in result.membersOfElements ?? [(name, result)] }
        guard !results.isEmpty, results.allSatisfy({ $0.1["succeeded"]?.bool != nil }) else { return false }
        let isTrait = self.request["schema"] == nil
        let names = CommandRecord.actionNames(in: self.request["actions"], byAlias: isTrait) ?? []
        var missing = names.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        for (name, _) in results { missing[name]? -= 1 }
        self.state = missing.values.allSatisfy { $0 <= 0 } ? .done : .incomplete
        self.results = list
        self.modifiedAt = now
        return true
    }
}

extension JSONValue {
    fileprivate var membersOfElements: JSONMembers? {
        guard let elements = self.array, elements.allSatisfy({ $0.kind == .object }) else { return nil }
        return elements.flatMap { $0.pairs }
    }
}
