import KiiPushCore

extension Receivers {
    enum Question: Sendable {
        case list
        case deadLetters
        case trace(receiver: String, messageID: Int64)
        case retry(receiver: String, messageID: Int64)
        case drop(receiver: String, messageID: Int64)

        private static let patience = Duration.seconds(5)

        static let stopped =
            KiiFailure(503, "RESOURCE_TEMPORARILY_UNAVAILABLE", "The emulator is about to end.").response

        func answer(_ entries: [ReceiverFolder.Entry]) -> HTTPResponse {
            do throws(KiiFailure) {
                switch self {
                case .list: return .json(200, nil, ["receivers": JSONValue(entries.map { $0.summary })])
                case .deadLetters:
                    return .json(200, nil, ["deadLetters": JSONValue(entries.flatMap { $0.deadLetters })])
                case .trace(let receiver, let id):
                    let events = try Self.entry(receiver, entries).events(of: id)
                    return .json(200, nil, ["events": JSONValue(events)])
                case .retry(let receiver, let id):
                    return try Self.decide(receiver, entries, "retried") { client throws(InboxAccessError) in
                        try client.retry(id)
                    }
                case .drop(let receiver, let id):
                    return try Self.decide(receiver, entries, "dropped") { client throws(InboxAccessError) in
                        try client.drop(id)
                    }
                }
            } catch {
                return error.response
            }
        }

        private static func entry(
            _ name: String, _ entries: [ReceiverFolder.Entry]
        ) throws(KiiFailure) -> ReceiverFolder.Entry {
            guard let entry = entries.first(where: { $0.name == name }) else {
                throw KiiFailure(404, "RECEIVER_NOT_FOUND", "No receiver has this name.", ["receiver": name])
            }
            return entry
        }

        private static func decide(
            _ receiver: String, _ entries: [ReceiverFolder.Entry], _ done: String,
            _ decide: (ControlClient) throws(InboxAccessError) -> MessageDecision
        ) throws(KiiFailure) -> HTTPResponse {
            let entry = try Self.entry(receiver, entries)
            func silent(_ reason: String) -> KiiFailure {
                KiiFailure(409, "RECEIVER_NOT_REACHABLE", reason, ["receiver": receiver])
            }
            let client = try? ControlClient(stateDirectory: entry.stateDirectory, patience: Question.patience)
            guard let client else { throw silent("The receiver does not run.") }
            let outcome: String
            do throws(InboxAccessError) {
                switch try decide(client) {
                case .carriedOut: outcome = done
                case .running: outcome = "running"
                case .notFound: outcome = "notFound"
                }
            } catch {
                throw silent("\(error)")
            }
            return .json(200, nil, ["outcome": JSONValue(outcome)])
        }
    }
}

extension ReceiverFolder.Entry {
    /// `nil` if the receiver has no inbox file, or if the file cannot be read now.
    private var inbox: InboxReader? { try? InboxReader(stateDirectory: self.stateDirectory) }

    fileprivate var summary: JSONValue {
        let installations = AgentStateFile.installations(stateDirectory: self.stateDirectory) ?? []
        let client = try? ControlClient(stateDirectory: self.stateDirectory, patience: Receivers.patience)
        return .object(present: [
            "name": self.name, "stateDirectory": self.stateDirectory, "installations": installations.sorted(),
            "isReachable": client != nil, "deadLetters": (try? self.inbox?.deadLetterStock().count) ?? 0,
        ])
    }

    fileprivate func events(of messageID: Int64) -> [JSONValue] {
        let record = try? self.inbox?.trace(of: messageID)
        return (record?.events ?? []).map { .object([("at", $0.at.description.json)] + $0.members) }
    }

    /// At most a hundred dead letters.
    fileprivate var deadLetters: [JSONValue] {
        let letters = (try? self.inbox?.deadLetters()) ?? []
        return letters.map { letter in
            var reason: String?
            if case .dead(let said) = letter.state { reason = said.description }
            return .object(present: [
                "receiver": self.name, "id": letter.messageID, "receivedAt": letter.receivedAt.json,
                "attempts": letter.attempts, "reason": reason,
                "payload": (try? JSONValue(parsing: letter.payload))
                    ?? JSONValue(String(decoding: letter.payload, as: UTF8.self)),
            ])
        }
    }
}
